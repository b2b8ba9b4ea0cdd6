package terms_test

import (
	"slices"
	"strings"
	"testing"

	"strandline/internal/index/terms"
)

func TestSynonyms(t *testing.T) {
	for word, want := range map[string]string{
		"login": "signin logon", "signin": "login logon", "mutex": "lock semaphore",
		"config": "configuration setting preference",
		"auth":   "authentication authenticate", "log": "logging logger",
		"loc": "", "in": "", "close": "", "zebra": "", "": "", "login signin": "", "\n": "",
	} {
		if got := strings.Join(terms.Synonyms(word), " "); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

// Synonyms are mutual, no word is its own synonym, and every word is as Index returns it.
func TestSynonymsAreMutual(t *testing.T) {
	seen := map[string]bool{}
	queue := []string{"login", "error", "delete", "config", "cache", "timeout", "lock", "function", "database"}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		if seen[w] {
			continue
		}
		seen[w] = true
		if got := terms.Index(w); !strings.HasPrefix(got+" ", w+" ") {
			t.Errorf("%q is indexed as %q", w, got)
		}
		for _, k := range terms.Synonyms(w) {
			if k == w || !slices.Contains(terms.Synonyms(k), w) {
				t.Errorf("%q has %q, which has %q", w, k, terms.Synonyms(k))
			}
			queue = append(queue, k)
		}
	}
	if len(seen) < 25 {
		t.Errorf("only %d words", len(seen))
	}
}
