package compact

import (
	"slices"
	"strings"
	"testing"

	"strandline/internal/text"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"    12→\tfunc Parse(path string) error {": "func Parse(path string) error {",
		"   7\treturn nil, err // no config":       "return nil, err // no config",
		"12 bottles of beer":                       "12 bottles of beer",
		"\x1b[32mok\x1b[0m  \tstrandline/internal": "ok strandline/internal",
		"short": "",
		"<retrieval_status>timeout</retrieval_status>": "",
		"<title>The order of things</title>":           "<title>The order of things</title>",
		"=================":                            "",
		"12345678901234567890":                         "",
	} {
		if got, _ := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
	if got, _ := printable(strings.Repeat("long words ", 100)); text.Units(got) > maxLineUnits || !strings.HasSuffix(got, "…") {
		t.Errorf("a long line became %q", got)
	}
}

func TestSentences(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"prose", "It fails because of the cache. We clear it first. Then it works again, see store.go.", []string{
			"It fails because of the cache.", "We clear it first. Then it works again, see store.go.",
		}},
		{"a list", "Two causes:\n- the first is the lock\n* the second is the clock", []string{"the first is the lock", "the second is the clock"}},
		{"code", "Run this:\n```sh\nmake test && make lint\n```\nand then go on from there", []string{"make test && make lint", "and then go on from there"}},
		{"a table", "| File | Line |\n|------|------|\n| store.go | 12 |", []string{"File | Line |", "store.go | 12 |"}},
		{"an abbreviation", "It needs the compiler of the day, e.g. version 1.26.8 of it.", []string{"It needs the compiler of the day, e.g. version 1.26.8 of it."}},
		{"nothing", "\n\n - \n", nil},
	}
	for _, tt := range tests {
		var got []string
		sentences(tt.text, func(s string) { got = append(got, s) })
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestIsFillerAndIsCode(t *testing.T) {
	for s, want := range map[string][2]bool{
		"Now update plan-save.md:":                         {true, false},
		"Now the index holds, because it is unique.":       {false, false},
		"I can see the `checkSessions()` function.":        {true, false},
		"for _, state := range allStates {":                {false, true},
		"func (s *Store) Find(path string) (State, error)": {false, true},
		"The cause is a missing lock in store.go.":         {false, false},
		"return strings.Join(parts, sep);":                 {false, true},
	} {
		if isFiller(s) != want[0] || isCode(s) != want[1] {
			t.Errorf("%q: filler %v, code %v", s, isFiller(s), isCode(s))
		}
	}
}

func TestSentenceKinds(t *testing.T) {
	tests := []struct {
		s                                string
		reason, preference, announcement bool
	}{
		{"We use citext because the index holds then.", true, false, false},
		{"The root cause is a race.", true, false, false},
		{"Please use tabs, and never spaces.", true, true, false},
		{"Let me look at the file.", false, false, true},
		{"Mustard and tests.", false, false, false},
		{"I prefer small functions.", false, true, false},
		{"", false, false, false},
	}
	for _, tt := range tests {
		if givesReason(tt.s) != tt.reason || givesPreference(tt.s) != tt.preference || isAnnouncement(tt.s) != tt.announcement {
			t.Errorf("%q: reason %v, preference %v, announcement %v", tt.s, givesReason(tt.s), givesPreference(tt.s), isAnnouncement(tt.s))
		}
	}
}

func TestSplit(t *testing.T) {
	tests := []struct {
		text       string
		n          int
		head, rest string
	}{
		{"short", 10, "short", ""},
		{"one two three four", 14, "one two three…", "four"},
		{"first line\nsecond line", 14, "first line…", "second line"},
		{strings.Repeat("x", 20), 10, strings.Repeat("x", 9) + "…", strings.Repeat("x", 11)},
	}
	for _, tt := range tests {
		if head, rest := split(tt.text, tt.n); head != tt.head || rest != tt.rest {
			t.Errorf("split(%q, %d) = %q, %q", tt.text, tt.n, head, rest)
		}
	}
}

func TestCompactLines(t *testing.T) {
	for text, want := range map[string]string{"": "", "\n\n": "", "a\n\n\n\nb\n": "a\nb", "  a\n b  ": "a\n b"} {
		if got := compactLines(text); got != want {
			t.Errorf("compactLines(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestLineKinds(t *testing.T) {
	for _, c := range []struct {
		name string
		is   func(string) bool
		yes  []string
		no   []string
	}{
		{"an error", reportsError, []string{"Error: x", "FAIL", "it failed", "panic: nil", "No such file", "permission denied"}, []string{"ok", "terrors", "unfailing", ""}},
		{"a declaration", isDeclaration, []string{"func main() {", "type T struct", "def f(x):", "export const a", "async def g():"}, []string{"function", "  func main()", "define x", ""}},
	} {
		for _, s := range c.yes {
			if !c.is(s) {
				t.Errorf("%q is %s", s, c.name)
			}
		}
		for _, s := range c.no {
			if c.is(s) {
				t.Errorf("%q is not %s", s, c.name)
			}
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("one two three\nfour five, six seven")
	f.Fuzz(func(t *testing.T, s string) {
		if head, rest := split(compactLines(text.Clean(s)), 20); text.Units(head) > 20 {
			t.Fatalf("split gave %q, %q", head, rest)
		}
	})
}
