package indextest

import (
	"slices"
	"strings"
	"testing"
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
