package compact

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/archive"
)

// Two threads find what one finds, with the same numbers.
func TestFoundInHalves(t *testing.T) {
	word := rapid.SampledFrom([]string{"parseConfig", "retry_count", "store.go", "--dry-run", "the", "fox", "a/b/main.go", "\n", " ", "é"})
	rapid.Check(t, func(t *rapid.T) {
		var all []string
		for range rapid.IntRange(1, 6).Draw(t, "passages") {
			all = append(all, strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "text"), " "))
		}
		half := rapid.IntRange(0, len(all)).Draw(t, "half")
		whole, parts := find(all), find(all[:half])
		parts.join(find(all[half:]))
		if !slices.Equal(whole.ids, parts.ids) || !slices.Equal(whole.lines, parts.lines) || !slices.Equal(whole.ends, parts.ends) || !maps.Equal(whole.voc.ids, parts.voc.ids) {
			t.Fatalf("in halves %+v\nwant %+v", parts, whole)
		}
	})
}

func TestFoundIsLargeEnoughForTwoThreads(t *testing.T) {
	var all []string
	for i := range 40 {
		all = append(all, strings.Repeat(fmt.Sprintf("call_%d and call_%d\n", i, i/2), 1000))
	}
	if f := findAll(all); len(f.voc.ids) != 40 || len(f.ends) != 40 || len(f.ids) != 80_000 {
		t.Errorf("%d names, %d passages, %d specifics", len(f.voc.ids), len(f.ends), len(f.ids))
	}
}

// What is kept of a line from reading to choosing is what a second look finds.
func TestToldLinesAreAsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aB_/.-@~ 12→\t\r\x1b[m\u200b\u00a0\u202eé\n<>")), 0, 300, -1).Draw(t, "text") +
			rapid.SampledFrom([]string{"", "\n /home/ada/shop/web/checkout.tsx calls applyDiscount", "\n   12→\treturn  total_price"}).Draw(t, "more")
		p := &past{passages: []archive.Passage{{Text: "Read a.go\n" + text}}, session: archive.Session{Cwd: "/home/ada/shop"}}
		c := learnPast(p, Request{})
		at := -1
		for raw := range strings.SplitSeq(p.passages[0].Text, "\n") {
			at++
			l := c.tell(raw, at)
			if want := tidy(c.short(raw)); l.text != want {
				t.Fatalf("%q is told as %q, want %q", raw, l.text, want)
			}
			if keys, words := c.voc.find(l.text, nil); l.whole && (!slices.Equal(keys, l.keys) || words != l.words) {
				t.Fatalf("%q, told as %q: %v and %d words, want %v and %d", raw, l.text, l.keys, l.words, keys, words)
			}
		}
	})
}
