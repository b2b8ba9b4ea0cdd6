package terms

import (
	"strings"
	"testing"
)

// Every word is as Index returns it, because no other word is found, and in one group
// only.
func TestSynonymGroups(t *testing.T) {
	seen := map[string]bool{}
	for w := range strings.FieldsSeq(synonymGroups) {
		if first, _, _ := strings.Cut(Index(w), " "); first != w {
			t.Errorf("%q is indexed as %q", w, first)
		}
		if seen[w] {
			t.Errorf("%q is listed twice", w)
		}
		seen[w] = true
	}
	for line := range strings.Lines(strings.TrimSpace(synonymGroups)) {
		if n := len(strings.Fields(line)); n < 2 || n > maxSynonyms+1 {
			t.Errorf("a group of %d words: %s", n, line)
		}
	}
}
