package compact

import (
	"slices"
	"testing"

	"strandline/internal/archive"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain text", "as it is\nover lines", "as it is\nover lines"},
		{"other scripts", "日本語 naïve 🙂", "日本語 naïve 🙂"},
		{"tabs become blanks", "a\tb", "a b"},
		{"carriage returns and bells go", "a\r\nb\x07\x00", "a\nb"},
		{"colours", "\x1b[1;31mred\x1b[0m", "red"},
		{"a sequence without its end", "\x1b[12", "12"},
		{"another escape", "\x1b(B", "(B"},
		{"one that never ends", "\x1b[" + "1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1m", "1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1m"},
		{"marks that turn text around", "\u202eevil\u202c \u2066x\u2069", "evil x"},
		{"invisible characters", "pass\u200bword\ufeff\u200e\u200f", "password"},
		{"broken bytes", "a\xff\xfeb", "ab"},
		{"a replacement character that was written", "a\ufffdb", "a\ufffdb"},
		{"delete and C1 controls", "a\x7fb\u0085c", "abc"},
	} {
		if got := clean(c.text); got != c.want {
			t.Errorf("%s: clean(%q) = %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "  x  ": "x", "a  b": "a b", "a\n\n b\tc": "a b c", "a b": "a b", "日本　語": "日本 語", "a\u00a0b": "a b", "\x1b[0m": "",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestDense(t *testing.T) {
	for text, want := range map[string]string{"": "", "\n\n": "", "a\n\n\n\nb\n": "a\nb", "  a\n b  ": "a\n b"} {
		if got := dense(text); got != want {
			t.Errorf("dense(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestWordsOfCommandsAndOutput(t *testing.T) {
	for _, c := range []struct {
		name string
		is   func(string) bool
		yes  []string
		no   []string
	}{
		{"a complaint", complains, []string{"Error: x", "FAIL", "it failed", "panic: nil", "No such file", "permission denied"}, []string{"ok", "terrors", "unfailing", ""}},
		{"a declaration", declares, []string{"func main() {", "type T struct", "def f(x):", "export const a", "async def g():"}, []string{"function", "  func main()", "define x", ""}},
	} {
		for _, s := range c.yes {
			if !c.is(s) {
				t.Errorf("%q is %s", s, c.name)
			}
		}
		for _, s := range c.no {
			if c.is(s) {
				t.Errorf("%q is no %s", s, c.name)
			}
		}
	}
}

func TestOutcome(t *testing.T) {
	code := func(n int) *int { return &n }
	for _, c := range []struct {
		name string
		call archive.Call
		want string
	}{
		{"a success", archive.Call{Exit: code(0)}, ", exit 0"},
		{"a success of a tool without a code", archive.Call{}, ""},
		{"a failure with its reason", archive.Call{Failed: true, Exit: code(2), Error: "no\n  rule"}, ", failed (exit 2): no rule"},
		{"a failure without a reason", archive.Call{Failed: true, Exit: code(1)}, ", failed (exit 1)"},
		{"a failure without a code", archive.Call{Failed: true, Error: "refused"}, ", failed: refused"},
		{"a failure without either", archive.Call{Failed: true}, ", failed"},
		{"still running", archive.Call{LineResult: -1, Failed: true}, ", no result yet"},
	} {
		if got := outcome(c.call); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestActs(t *testing.T) {
	c := &collector{root: "/home/ada/shop/", past: &past{session: archive.Session{Cwd: "/home/ada/shop"}}}
	for _, x := range []struct {
		call archive.Call
		want string
	}{
		{archive.Call{Kind: archive.CallCommand, Command: "cat /home/ada/shop/a.go\n"}, "ran `cat a.go`"},
		{archive.Call{Kind: archive.CallEdit, Files: []string{"/home/ada/shop/a.go", "/b"}}, "changed the file a.go"},
		{archive.Call{Kind: archive.CallEdit, Files: []string{"/home/ada/shopping/a.go"}, Failed: true}, "tried to change the file /home/ada/shopping/a.go, failed"},
		{archive.Call{Kind: archive.CallRead, Files: []string{"/etc/hosts"}}, "read the file /etc/hosts"},
		{archive.Call{Kind: archive.CallRead}, ""},
		{archive.Call{Kind: archive.CallEdit}, ""},
	} {
		if got := c.act(x.call); got != x.want {
			t.Errorf("%+v: %q, want %q", x.call, got, x.want)
		}
	}
}

// A fork reaches back to the newest place that it has a copy of, in one session.
func TestTheNewestCopiedPlace(t *testing.T) {
	ref := func(session string, turn, step int) *archive.Ref {
		return &archive.Ref{Session: session, Turn: turn, Step: step}
	}
	for _, c := range []struct {
		name  string
		turns []*archive.Ref
		steps []*archive.Ref
		want  *archive.Ref
	}{
		{"no copies", []*archive.Ref{nil}, []*archive.Ref{nil}, nil},
		{"a turn", []*archive.Ref{ref("p", 2, 0)}, nil, ref("p", 2, -1)},
		{"a step of it is later", []*archive.Ref{ref("p", 2, 0)}, []*archive.Ref{ref("p", 2, 3), ref("p", 2, 1)}, ref("p", 2, 3)},
		{"a later turn without a step", []*archive.Ref{ref("p", 3, 0)}, []*archive.Ref{ref("p", 2, 9)}, ref("p", 3, -1)},
		{"a later turn of another session", []*archive.Ref{ref("p", 1, 0), ref("q", 7, 0)}, nil, ref("p", 1, -1)},
		{"its own rows", []*archive.Ref{ref("f", 5, 0)}, nil, nil},
	} {
		var turns []archive.Turn
		for _, r := range c.turns {
			turns = append(turns, archive.Turn{Copy: r})
		}
		var steps []archive.Step
		for _, r := range c.steps {
			steps = append(steps, archive.Step{Copy: r})
		}
		got := lastCopy("f", turns, steps)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Places are counted in the order of the session, each once, whoever names them.
func TestMoments(t *testing.T) {
	c := &collector{moments: map[place]int{}, past: &past{
		prompts:  []archive.Passage{{Turn: -1, Step: -1}, {Turn: 0, Step: -1}, {Turn: 1, Step: -1}},
		passages: []archive.Passage{{Turn: 0, Step: 0}, {Turn: 0, Step: 0}, {Turn: 1, Step: 2}},
		calls:    []archive.Call{{Turn: 0, Step: 0}, {Turn: 1, Step: 0}},
	}}
	c.number()
	want := []place{{-1, -1}, {0, -1}, {0, 0}, {1, -1}, {1, 0}, {1, 2}}
	var got []place
	for range c.moments {
		for p, n := range c.moments {
			if n == len(got) {
				got = append(got, p)
				break
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestShortPlaces(t *testing.T) {
	for _, c := range []struct{ handle, before, want string }{
		{"7f3a12cd/2.1", "7f3a12cd/1", "2.1"},
		{"7f3a12cd/2.1", "ffff0000/1", "7f3a12cd/2.1"},
		{"7f3a12cd~a1/2", "7f3a12cd/1", "7f3a12cd~a1/2"},
	} {
		if got := shortPlace(c.handle, c.before); got != c.want {
			t.Errorf("%s behind %s: %q, want %q", c.handle, c.before, got, c.want)
		}
	}
}
