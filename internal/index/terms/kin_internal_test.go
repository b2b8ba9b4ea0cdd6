package terms

import (
	"strings"
	"testing"
)

// A word that is not as Index gives it would never be found, and one in two
// groups would join what is not the same.
func TestGroups(t *testing.T) {
	seen := map[string]bool{}
	for w := range strings.FieldsSeq(groups) {
		if first, _, _ := strings.Cut(Index(w), " "); first != w {
			t.Errorf("%q is indexed as %q", w, first)
		}
		if seen[w] {
			t.Errorf("%q stands twice", w)
		}
		seen[w] = true
	}
	for line := range strings.Lines(strings.TrimSpace(groups)) {
		if n := len(strings.Fields(line)); n < 2 || n > maxKin+1 {
			t.Errorf("a group of %d words: %s", n, line)
		}
	}
}
