package compact_test

import (
	"strings"
	"testing"

	"strandline/internal/compact"
)

// A failed git operation is fixed by a later success with any options. Any other
// command has to succeed unchanged.
func TestFixedErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		failed, then string
		open         bool
	}{
		"a rebase that went on":     {"git rebase origin/main 2>&1", "git add store.go && git rebase --continue", false},
		"a push with other options": {"git push", "git push -u origin feature", false},
		"another verb":              {"git push", "git pull --rebase", true},
		"the same test":             {"go test ./store", "go test ./store 2>&1 | tail", false},
		"another test":              {"go test ./store", "go test ./web", true},
		"no verb":                   {"git --no-such", "git --version", true},
		"a name that ends in git":   {"mygit sync", "mygit push", true},
		"a folder change in front":  {"cd /home/ada/shop && git merge dev", "git merge --continue", false},
	} {
		m := newMemory()
		m.prompt("Bring the branch up to date.")
		m.run(c.failed, 1, "error: could not apply a4f7a52")
		m.run(c.then, 0, "done with all of it")
		text := restore(t, m, compact.Request{Budget: 4000}).Text
		if got := strings.Contains(text, "## Open errors"); got != c.open {
			t.Errorf("%s: open %v, want %v\n%s", name, got, c.open, text)
		}
	}
}
