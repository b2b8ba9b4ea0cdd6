package app

import (
	"fmt"
	"testing"

	"strandline/internal/archive"
)

func TestPassageChanges(t *testing.T) {
	for _, c := range []struct{ passage, want string }{
		{"Edit a.go\n--- old\none\ntwo\nthree\n+++ new\none\n2\nthree\n3", "+2 -1"},
		{"Edit a.go\n--- old\na\nb\nc\nd\n+++ new\nA\nb\nc\nD", "+2 -2"}, // lines between two changes are not changed
		{"Edit a.go\n--- old\ngone\nlines", "+0 -2"},
		{"Write a.go\n+++ new\none\ntwo", "+2 -0"},
		{"MultiEdit a.go\n--- old\na\n+++ new\nb\n--- old\nc\n+++ new\nd\ne", "+3 -2"},
		{"Edit a.go", "+0 -0"},
	} {
		_, added, removed := unified("a.go", passageChanges(c.passage))
		if got := fmt.Sprintf("+%d -%d", added, removed); got != c.want {
			t.Errorf("%q: %s, want %s", c.passage, got, c.want)
		}
	}
}

func TestEditFailed(t *testing.T) {
	edit := archive.Passage{Turn: 1, Step: 2, Paths: []string{"a.go"}}
	call := func(path string, failed bool) archive.Call {
		return archive.Call{Turn: 1, Step: 2, Kind: archive.CallEdit, Files: []string{path}, Failed: failed}
	}
	for _, c := range []struct {
		calls []archive.Call
		want  bool
	}{
		{nil, false},
		{[]archive.Call{call("a.go", true)}, true},
		{[]archive.Call{call("a.go", true), call("a.go", false)}, false},
		{[]archive.Call{call("b.go", true), call("a.go", false)}, false},
	} {
		if got := editFailed(edit, c.calls); got != c.want {
			t.Errorf("%v: %v", c.calls, got)
		}
	}
}
