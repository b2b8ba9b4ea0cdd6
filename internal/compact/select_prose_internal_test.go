package compact

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

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
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
	if got := printable(strings.Repeat("long words ", 100)); text.Units(got) > maxLineUnits || !strings.HasSuffix(got, "…") {
		t.Errorf("a long line became %q", got)
	}
}

func TestStatements(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"prose", "It fails because of the cache. We clear it first. Then it works again, see store.go.", []string{
			"It fails because of the cache. We clear it first. Then it works again, see store.go.",
		}},
		{"a list with its introduction", "Two causes:\n- the first is the lock\n* the second is the clock", []string{"Two causes:\n- the first is the lock\n- the second is the clock"}},
		{"a list after a short statement", "Created the record.\n\nIt has:\n- the options\n- the choice", []string{"Created the record.\nIt has:\n- the options\n- the choice"}},
		{"a heading", "## The cause\nA lock is missing in store.go.", []string{"The cause:\nA lock is missing in store.go."}},
		{"commands", "Run this:\n```sh\nmake test && make lint\n```\nand then go on from there", []string{"Run this:\nmake test && make lint\nand then go on from there"}},
		{"other code", "It is this:\n```go\nreturn nil\n```\nwhich returns nothing at all.", []string{"which returns nothing at all."}},
		{"a table", "| File | Line |\n|------|------|\n| store.go | 12. Then more |", []string{"- File | Line\n- store.go | 12. Then more"}},
		{"an abbreviation", "It needs the compiler of the day, e.g. version 1.26.8 of it.", []string{"It needs the compiler of the day, e.g. version 1.26.8 of it."}},
		{"an announcement", "Let me look at the tests first:", nil},
		{"a fact and an announcement", "The lock is missing in store.go. Let me add it:", []string{"The lock is missing in store.go."}},
		{"a short fact and an announcement", "Phase 7 done. Let me work on phase 8.", []string{"Phase 7 done."}},
		{"musing", "Now I understand the full picture. Hmm, what next?", nil},
		{"an exclamation", "Good progress! The tests run further now.", []string{"The tests run further now."}},
		{"an introduction without a list", "There are two causes of it:", nil},
		{"nothing", "\n\n - \n", nil},
	}
	for _, tt := range tests {
		var got []string
		statements(tt.text, nil, func(s statement) { got = append(got, s.text) })
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A long text becomes several statements, none of which ends inside a sentence.
func TestStatementsAreDivided(t *testing.T) {
	sentence := "The balance of the ledger is summed twice because its entries repeat. "
	statements(strings.Repeat(sentence, 20), nil, func(s statement) {
		if text.Units(s.text) > maxStatement || !strings.HasSuffix(s.text, "repeat.") || !s.finding {
			t.Errorf("got %+v", s)
		}
	})
}

func TestAnnounced(t *testing.T) {
	for s, want := range map[string]string{
		"Now let me update `parse()` to accept v5:": "update `parse()` to accept v5",
		"I'll run the tests.":                       "run the tests",
		"The tests pass now.":                       "",
		"Now update plan-save.md:":                  "update plan-save.md",
	} {
		if got := announced(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestIsStanding(t *testing.T) {
	for s, want := range map[string]bool{
		"Always use tabs.": true, "Please never commit the lock file.": true, "I prefer small functions.": true, "From now on, run make lint first.": true,
		"This causes the count to always be 0.": false, "Should we always use tabs?": false, "Fix the test.": false,
	} {
		if got := isStanding(s); got != want {
			t.Errorf("%q: %v", s, got)
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
		{"a failure", failsCheck, []string{"Error: x", "FAIL", "it failed", "panic: nil", "No such file", "permission denied"}, []string{"ok", "terrors", "unfailing", ""}},
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

// Statements of any text are bounded, not empty, and cost no more than the text.
func TestStatementsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.StringOfN(rapid.RuneFrom([]rune("aB é.!?:-*#|`1\n\t漢")), 0, 600, -1).Draw(t, "text")
		units := 0
		add := func(s statement) {
			units += text.Units(s.text)
			if s.text == "" || text.Units(s.text) > 4*maxStatement || s.reason && !s.finding {
				t.Fatalf("%+v", s)
			}
		}
		statements(body, nil, add)
		excerpts(body, givesRule, add)
		if limit := 3*text.Units(body) + 8; units > limit {
			t.Fatalf("%d units of statements from %d", units, text.Units(body))
		}
	})
}
