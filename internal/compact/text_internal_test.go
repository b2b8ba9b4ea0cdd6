package compact

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/text"
)

func TestTidy(t *testing.T) {
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
		if got := tidy(in); got != want {
			t.Errorf("tidy(%q) = %q, want %q", in, got, want)
		}
	}
	if got := tidy(strings.Repeat("long words ", 100)); text.Units(got) > maxLineUnits || !strings.HasSuffix(got, "…") {
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
		{"an abbreviation is no end", "It needs the compiler of the day, e.g. version 1.26.8 of it.", []string{"It needs the compiler of the day, e.g. version 1.26.8 of it."}},
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

func TestAnnouncesAndCode(t *testing.T) {
	for s, want := range map[string][2]bool{
		"Now update plan-save.md:":                         {true, false},
		"Now the index holds, because it is unique.":       {false, false},
		"I can see the `checkSessions()` function.":        {true, false},
		"for _, state := range allStates {":                {false, true},
		"func (s *Store) Find(path string) (State, error)": {false, true},
		"The cause is a missing lock in store.go.":         {false, false},
		"return strings.Join(parts, sep);":                 {false, true},
	} {
		if announces(s) != want[0] || code(s) != want[1] {
			t.Errorf("%q: announces %v, is code %v", s, announces(s), code(s))
		}
	}
}

func TestReasonedStatesNarrates(t *testing.T) {
	tests := []struct {
		s                         string
		reasons, prefers, narrate bool
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
		if reasoned(tt.s) != tt.reasons || states(tt.s) != tt.prefers || narrates(tt.s) != tt.narrate {
			t.Errorf("%q: reasoned %v, states %v, narrates %v", tt.s, reasoned(tt.s), states(tt.s), narrates(tt.s))
		}
	}
}

func TestClip(t *testing.T) {
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
		if head, rest := clip(tt.text, tt.n); head != tt.head || rest != tt.rest {
			t.Errorf("clip(%q, %d) = %q, %q", tt.text, tt.n, head, rest)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b[31mred\x1b[0m \u202e\u200b\x00\xff\ttab\nline")
	f.Add("\x1b[")
	f.Fuzz(func(t *testing.T, s string) {
		c := clean(s)
		if !utf8.ValidString(c) || clean(c) != c {
			t.Fatalf("clean(%q) = %q", s, c)
		}
		if one := oneLine(s); strings.ContainsAny(one, "\n\t\x1b") || strings.Contains(one, "  ") {
			t.Fatalf("oneLine(%q) = %q", s, one)
		}
		head, rest := clip(dense(c), 20)
		if text.Units(head) > 20 {
			t.Fatalf("clip gave %q, %q", head, rest)
		}
	})
}

func TestOpenFailures(t *testing.T) {
	call := func(step int, cmd string, failed bool) archive.Call {
		return archive.Call{Step: step, Kind: archive.CallCommand, Command: cmd, Failed: failed, LineResult: step}
	}
	read := archive.Call{Step: 9, Kind: archive.CallRead, Files: []string{"gone.go"}, Failed: true}
	c := &collector{past: &past{calls: []archive.Call{
		call(0, "make", true), call(1, "make lint", true), call(2, "cd x && make 2>&1", false),
		call(3, "make lint", true), call(4, "make deploy", false), call(5, "make deploy", true),
		{Step: 6, Kind: archive.CallCommand, Command: "make lint", LineResult: -1}, read,
	}}}
	var got []int
	for _, x := range c.openFailures() {
		got = append(got, x.Step)
	}
	if want := []int{9, 5, 3}; !slices.Equal(got, want) {
		t.Errorf("open failures in steps %v, want %v", got, want)
	}
}

func TestFoldTasks(t *testing.T) {
	tasks := foldTasks([]archive.TaskEvent{
		{TaskID: "1", Subject: "first", Status: "pending"}, {TaskID: "2", Subject: "second", Status: "pending"},
		{TaskID: "1", Status: "in_progress", Turn: 3}, {TaskID: "2", Status: "deleted"}, {TaskID: "1", Subject: "renamed"}, {TaskID: "3", Status: "completed"},
	})
	if len(tasks) != 3 || tasks[0].line() != "in progress: renamed" || !tasks[0].open() || tasks[1].open() || tasks[2].open() {
		t.Errorf("got %+v", tasks)
	}
}

// What is looked at in steps of eight bytes is the same as byte by byte.
func TestSmooth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom([]rune("abcXYZ!~ \x7f\t\x1f\u00e9")), 0, 40, -1).Draw(t, "s")
		n := smooth(s)
		for i := range n {
			if s[i] < ' ' || s[i] >= 0x7f || s[i] == ' ' && i+1 < len(s) && s[i+1] == ' ' {
				t.Fatalf("%q is not smooth at %d of %d", s, i, n)
			}
		}
		plain := 0
		for plain < len(s) && s[plain] >= ' ' && s[plain] < 0x7f && (s[plain] != ' ' || plain+1 == len(s) || s[plain+1] != ' ') {
			plain++
		}
		if n < plain-plain%8-9 {
			t.Fatalf("%q is smooth for %d bytes, found %d", s, plain, n)
		}
	})
}
