package cli

import (
	"strings"
	"testing"

	"strandline/internal/index/terms"
	"strandline/internal/recall"
)

func TestExcerptRows(t *testing.T) {
	const code = "func a() {\n\n\t\tfirst()\n\t\tretry(policy)\n\t\t\tlast()\n}\nretry\n"
	for name, c := range map[string]struct {
		text, query string
		sign        int
		width, rows int
		want        string
	}{
		"lines stay, without shared indentation": {code, "policy", 0, 40, 2, "retry(policy)|  last()"},
		"where most words are":                   {"retry\n" + code, "retry policy", 0, 40, 1, "retry(policy)"},
		"no blank lines":                         {code, "func", 0, 40, 2, "func a() {|    first()"},
		"the end fills the rows":                 {code, "nothing last", 0, 40, 3, "      last()|}|retry"},
		"a long line takes several rows":         {"short\nthe retry policy is explained in this long line", "retry", 0, 20, 3, "the retry policy is|explained in this|long line"},
		"a longer one is shortened":              {strings.Repeat("words and ", 30) + "the retry policy", "policy", 0, 20, 2, "…words and words and|the retry policy"},
		"an edit":                                {recall.Signed("--- old\n\t\told()\n+++ new\n\t\tnew()\n"), "old", len("- "), 40, 3, "- old()|+ new()"},
		"a new file":                             {recall.Signed("one\ntwo\n"), "two", len("+ "), 40, 3, "+ one|+ two"},
		"control characters":                     {"a \x1b]0;x\x07 retry", "retry", 0, 40, 3, "a ^[]0;x^G retry"},
		"nothing":                                {"\n", "x", 0, 40, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ts := terms.Query(c.query)
			got := excerptRows(c.text, func(s string) []recall.Mark { return recall.Marks(s, ts) }, c.sign, c.width, c.rows)
			if have := strings.Join(got, "|"); have != c.want {
				t.Errorf("got  %q\nwant %q", have, c.want)
			}
		})
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{
		"retry": "retry", "kind:edit": "kind:edit", "a b": "'a b'", "O'Brien": `'O'\''Brien'`, "$(x)": "'$(x)'", "": "''", "pay/retry.go": "pay/retry.go", "^x*": "'^x*'",
	} {
		if got := shellWord(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
