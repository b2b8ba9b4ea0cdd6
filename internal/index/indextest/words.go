package indextest

import (
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
)

// A store lists its words, whether they are marked as strong or not.
func testWords(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, simple(mainID, project("tide"),
		"config and configure and configuration "+strings.Repeat("filler of another kind ", 100),
		"config",
		"confetti über consul",
	))
	counts := got[[]int](t)(s.WordCounts(t.Context(), []string{"config", "confg", "confetti", "conf", "uber", "", `x" OR 1=1 --`}))
	if want := []int{2, 0, 1, 0, 1, 0, 0}; !slices.Equal(counts, want) {
		t.Errorf("counts %v, want %v", counts, want)
	}
	if none := got[[]int](t)(s.WordCounts(t.Context(), nil)); len(none) != 0 {
		t.Errorf("counts of no words: %v", none)
	}
	testCounts(t, s)
	for _, test := range []struct {
		prefix string
		limit  int
		want   string
	}{
		{"conf", 10, "confetti config configuration configure"},
		{"conf", 2, "confetti config"},
		{"config", 10, "config configuration configure"},
		{"confx", 10, ""},
		{"zzz", 10, ""},
		{"%", 10, ""},
	} {
		if have := strings.Join(got[[]string](t)(s.WordsFrom(t.Context(), test.prefix, test.limit)), " "); have != test.want {
			t.Errorf("from %q: %q, want %q", test.prefix, have, test.want)
		}
	}
}

// A store counts the passages and sessions with each term of a query, and marks the terms
// in each hit.
func testCounts(t *testing.T, s Store) {
	t.Helper()
	q := archive.Query{Projects: []string{project("tide").Key}, Terms: []archive.Term{
		{Text: "config", Weight: 1}, {Text: "nothing", Weight: 1}, {Text: "uber", Forms: "consul", Weight: 1}, {Text: "conf", Prefix: true, Weight: 1},
	}}
	c := got[archive.Counts](t)(s.Counts(t.Context(), q))
	want := []archive.TermCount{{Passages: 2, Sessions: 1}, {}, {Passages: 1, Sessions: 1}, {Passages: 3, Sessions: 1}}
	if !slices.Equal(c.Terms, want) || c.Passages < 3 || c.Sessions != 1 {
		t.Errorf("counts %+v, want %v", c, want)
	}
	for _, h := range got[[]archive.Hit](t)(s.Search(t.Context(), q)) {
		matched := uint64(0b1001)
		if strings.HasPrefix(h.Text, "confetti") {
			matched = 0b1100
		}
		if h.Evidence.Matched != matched {
			t.Errorf("%q matches terms %b, want %b", h.Text, h.Evidence.Matched, matched)
		}
	}
	q.Projects = []string{"dir:/nowhere"}
	if c := got[archive.Counts](t)(s.Counts(t.Context(), q)); c.Passages != 0 || c.Terms[0].Passages != 0 {
		t.Errorf("counts in no project: %+v", c)
	}
}
