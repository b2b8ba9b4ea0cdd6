package claude

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"strandline/internal/archive"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata/*.txtar")

// fixture is one testdata/*.txtar: transcripts in the order in which they are indexed,
// and the resulting rows.
type fixture struct {
	path    string
	archive *txtar.Archive
	want    *txtar.File
}

func fixtures(tb testing.TB) []fixture {
	tb.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no fixtures: %v", err)
	}
	var all []fixture
	for _, p := range paths {
		a, err := txtar.ParseFile(p)
		if err != nil {
			tb.Fatal(err)
		}
		f := fixture{path: p, archive: a}
		for i := range a.Files {
			if a.Files[i].Name == "want" {
				f.want = &a.Files[i]
			}
		}
		if f.want == nil {
			tb.Fatalf("%s has no want part", p)
		}
		all = append(all, f)
	}
	return all
}

// transcripts calls each for every transcript of the fixture.
func (f *fixture) transcripts(each func(base archive.Session, data []byte)) {
	for _, file := range f.archive.Files {
		id, ok := strings.CutSuffix(file.Name, ".jsonl")
		if !ok {
			continue
		}
		base := archive.Session{ID: id, Client: "claude"}
		if agent, ok := strings.CutPrefix(id, "agent-"); ok {
			base = archive.Session{ID: "s~" + agent, Client: "claude", Parent: "s", Relation: archive.RelationAgent}
		}
		each(base, file.Data)
	}
}

func TestGolden(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(filepath.Base(f.path), func(t *testing.T) {
			var got strings.Builder
			keys := newStore().keys
			f.transcripts(func(base archive.Session, data []byte) {
				s := newStore()
				s.keys = keys
				s.read(t, base, nil, data)
				got.WriteString(s.dump())
			})
			if *update {
				f.want.Data = []byte(got.String())
				if err := os.WriteFile(f.path, txtar.Format(f.archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(f.want.Data); got.String() != want {
				t.Errorf("rows differ (go test -update rewrites them):\n%s", firstDifference(got.String(), want))
			}
		})
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			from := max(i-2, 0)
			return "got\n" + strings.Join(g[from:min(i+6, len(g))], "\n") + "\nwant\n" + strings.Join(w[min(from, len(w)):min(i+6, len(w))], "\n")
		}
	}
	return "the golden part has more lines"
}

// TestReadInPieces reads each fixture in two pieces, split after every line in turn.
func TestReadInPieces(t *testing.T) {
	for _, f := range fixtures(t) {
		keys := newStore().keys
		f.transcripts(func(base archive.Session, data []byte) {
			before := newStore()
			maps.Copy(before.keys, keys)
			whole := newStore()
			whole.keys = keys
			whole.read(t, base, nil, data)
			for line := 1; line < bytes.Count(data, []byte("\n")); line++ {
				pieces := newStore()
				maps.Copy(pieces.keys, before.keys)
				pieces.read(t, base, nil, cutAt(data, line)...)
				if a, b := whole.dump(), pieces.dump(); a != b {
					t.Errorf("%s %s: cut after line %d:\n%s", f.path, base.ID, line, firstDifference(b, a))
				}
			}
		})
	}
}
