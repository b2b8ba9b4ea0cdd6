package redact_test

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/internal/redact"
)

// labelled is one line of the shared set of labelled texts.
type labelled struct {
	group, kind, text, secret string
	isSecret                  bool
}

// openSet returns the labelled lines, and skips the test if the set is absent.
func openSet(tb testing.TB) []labelled {
	tb.Helper()
	list := optionalSet()
	if list == nil {
		tb.Skip("the labelled set is absent; STRANDLINE_REDACTION_SET names another")
	}
	return list
}

// optionalSet returns the labelled lines, nil if the set is absent.
func optionalSet() []labelled {
	path := cmp.Or(os.Getenv("STRANDLINE_REDACTION_SET"), filepath.Join("..", "..", "..", "shared", "bench", "redaction", "open.tsv"))
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	plain := strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r", `\x1b`, "\x1b")
	var list []labelled
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) == 5 && f[0] != "group" {
			list = append(list, labelled{f[0], f[1], plain.Replace(f[2]), plain.Replace(f[3]), f[4] == "1"})
		}
	}
	return list
}

// right reports whether the text is redacted as its label says.
func (l labelled) right(got string) bool {
	if l.isSecret {
		return !strings.Contains(got, l.secret)
	}
	return got == l.text || l.secret != "" && strings.Contains(got, l.secret)
}

// TestOpenSet prints the share of secrets replaced and of look-alikes left
// readable in the shared set, by group.
func TestOpenSet(t *testing.T) {
	r := redact.New([]byte("test"))
	type score struct{ right, all int }
	scores := map[string]*score{}
	count := func(name string, ok bool) {
		if scores[name] == nil {
			scores[name] = &score{}
		}
		scores[name].all++
		if ok {
			scores[name].right++
		}
	}
	for _, l := range openSet(t) {
		got := r.String(l.text)
		ok := l.right(got)
		count(l.group, ok)
		if l.isSecret {
			count("recall", ok)
		}
		if !ok {
			t.Logf("%s, %s: %q became %q", l.group, l.kind, l.text, shown(got))
		}
	}
	least := map[string]float64{"recall": .97, "provider": .98, "prose": .80, "clean": .99}
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		s := scores[name]
		share := float64(s.right) / float64(s.all)
		t.Logf("%-18s %4d of %4d  %.3f", name, s.right, s.all, share)
		if share < least[name] {
			t.Errorf("%s: %.3f, want %.2f", name, share, least[name])
		}
	}
}
