package capture_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// evalData returns a folder of real transcripts (*.jsonl at any depth, with the
// sessions' folders beside them), named by STRANDLINE_EVAL_DATA.
func evalData(t testing.TB) (dir string, files []string) {
	t.Helper()
	dir = os.Getenv("STRANDLINE_EVAL_DATA")
	if dir == "" {
		t.Skip("no real transcripts: set STRANDLINE_EVAL_DATA to a folder of them")
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.HasSuffix(path, ".jsonl") && filepath.Base(filepath.Dir(path)) != "subagents" {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts in %s: %v", dir, err)
	}
	return dir, files
}

func TestEvalImportExactBytes(t *testing.T) {
	dir, files := evalData(t)
	w := newWorld(t)
	start := time.Now()
	report := w.bulk(dir)
	for _, f := range report.Failed {
		t.Errorf("%s: %v", f.Path, f.Err)
	}
	t.Logf("%d files, %.1f MB, %d sessions indexed in %.1f s", report.Done, float64(report.Bytes)/1e6, report.Sessions, time.Since(start).Seconds())
	for _, path := range files {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		session := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		if got := w.export(session, 0); sha256.Sum256(got) != sha256.Sum256(want) {
			t.Errorf("%s: the exported bytes differ", session)
		}
	}
	before := w.dump("index.db")
	if got := w.reindex("other.db"); got != before {
		t.Errorf("reindex: %s", firstDifference(got, before))
	}
	t.Logf("%d transcripts: exported bytes equal; reindex gives the same %d rows", len(files), strings.Count(before, "\n"))
}

// TestEvalGrowing grows every transcript at random positions or, if known, at the sizes
// that a client's hook saw (snapshots.tsv: session, size).
func TestEvalGrowing(t *testing.T) {
	dir, files := evalData(t)
	cuts := snapshots(t, dir)
	rnd := rand.New(rand.NewPCG(7, 7))
	steps, snaps := 0, 0
	for _, path := range files {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		session := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		at := cuts[session]
		snaps += len(at)
		for range 4 {
			at = append(at, rnd.IntN(len(whole)+1))
		}
		w := newWorld(t)
		size := 0
		for _, cut := range append(slices.Sorted(slices.Values(at)), len(whole)) {
			if cut > len(whole) || cut < size {
				continue
			}
			w.appendTo(w.path(session), whole[size:cut])
			size = cut
			w.hook(session)
			if got := w.export(session, 0); !bytes.Equal(got, whole[:cut]) {
				t.Fatalf("%s at %d: the log differs", session, cut)
			}
			steps++
		}
		if got, want := w.dump("index.db"), w.reindex("other.db"); got != want {
			t.Errorf("%s: %s", session, firstDifference(got, want))
		}
	}
	t.Logf("%d transcripts in %d steps, %d of them recorded snapshots: logs equal at each, index equal to a rebuilt one", len(files), steps, snaps)
}

// snapshots reads the recorded sizes.
func snapshots(t *testing.T, dir string) map[string][]int {
	t.Helper()
	out := map[string][]int{}
	found, err := filepath.Glob(filepath.Join(dir, "*.snapshots.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		r := csv.NewReader(f)
		r.Comma, r.FieldsPerRecord = '\t', -1
		rows, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if n, err := strconv.Atoi(row[1]); err == nil {
				out[row[0]] = append(out[row[0]], n)
			}
		}
	}
	return out
}
