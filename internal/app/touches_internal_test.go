package app

import (
	"slices"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/transcript"
)

func TestReason(t *testing.T) {
	say := func(step int, label, text string) archive.Passage {
		return archive.Passage{Step: step, Kind: archive.KindReply, Label: label, Text: text}
	}
	const thinking = archive.LabelThinking
	for name, c := range map[string]struct {
		said []archive.Passage
		want string
	}{
		"nothing":                     {nil, ""},
		"an announcement":             {[]archive.Passage{say(5, "", "The wait of a client has no bound. Now let me cap the wait of all clients:")}, "cap the wait of all clients"},
		"one that names nothing":      {[]archive.Passage{say(5, "", "The wait of a client has no bound. Let me fix that:")}, "The wait of a client has no bound"},
		"nothing but that":            {[]archive.Passage{say(5, "", "Let me fix that:")}, "fix that"},
		"another statement":           {[]archive.Passage{say(5, "", "The wait is too short.")}, "The wait is too short"},
		"code is no reason":           {[]archive.Passage{say(5, "", "The wait is too short.\n```\nLet me in\n```")}, "The wait is too short"},
		"a thought":                   {[]archive.Passage{say(5, thinking, "Let me cap the wait of clients.")}, "cap the wait of clients"},
		"a reply before a thought":    {[]archive.Passage{say(5, thinking, "Let me look at the wait again."), say(5, "", "The wait is too short.")}, "The wait is too short"},
		"a step before":               {[]archive.Passage{say(3, "", "I'll cap the wait of clients.")}, "cap the wait of clients"},
		"no statement of it":          {[]archive.Passage{say(3, "", "All is done.")}, ""},
		"no step long before":         {[]archive.Passage{say(0, "", "I'll cap the wait of clients.")}, ""},
		"nor what was said afterward": {[]archive.Passage{say(6, "", "I'll cap the wait of clients.")}, ""},
	} {
		if got := reason(c.said, 5); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestChangedFunctions(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"inside one":            {"func wait() {\n\treturn d\n}", "func wait() {\n\treturn 2 * d\n}", []string{"wait"}},
		"a new one after it":    {"func wait() {\n}\n", "func wait() {\n}\n\n// top is new.\nfunc top() {}\n", []string{"top"}},
		"a method and a type":   {"", "type client struct{}\n\nfunc (c *client) send() {}", []string{"client", "send"}},
		"renamed":               {"def wait():\n  pass", "def pause():\n  pass", []string{"wait", "pause"}},
		"none":                  {"max = 1", "max = 2", nil},
		"far below its heading": {"func wait() {\n1\n2\n3\n4\n5\n}", "func wait() {\n1\n2\n3\n4\n6\n}", nil},
	} {
		diff, _, _ := unified("/w/retry.go", []transcript.Change{{Old: c.before, New: c.after}})
		if got := changedFunctions(diff); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q in\n%s", name, got, c.want, diff)
		}
	}
}
