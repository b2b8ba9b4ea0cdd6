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

func TestScoreRanksTerms(t *testing.T) {
	v := newVocabulary(100, 0)
	v.learn("old_name", 1, true)
	v.learn("seen_name", 99, false)
	v.learn("used_name", 99, true)
	for at := 90; at < 100; at++ {
		v.learn("busy_name", at, true)
	}
	v.learn("known_name", 99, true)
	v.learn("asked_name", 99, true)
	v.known("known_name", func(t *term) { t.inSummary = true })
	v.setFocus("asked_name", 1)
	v.score(nil)
	value := func(s string) float64 { return v.value[v.ids[s]] }
	order := []string{"old_name", "seen_name", "used_name", "asked_name"}
	for i := 1; i < len(order); i++ {
		if value(order[i-1]) >= value(order[i]) {
			t.Errorf("%s has the value %.3f, %s %.3f", order[i-1], value(order[i-1]), order[i], value(order[i]))
		}
	}
	if value("busy_name") <= value("seen_name") || value("known_name") >= value("used_name") {
		t.Errorf("busy %.3f, seen %.3f, known %.3f, used %.3f", value("busy_name"), value("seen_name"), value("known_name"), value("used_name"))
	}
}

func TestCountOncePerPlace(t *testing.T) {
	v := newVocabulary(2, 0)
	v.learn("one_name one_name", 0, true)
	v.learn("one_name", 0, true)
	v.learn("one_name", 1, false)
	v.learn("one_name", 1, false)
	if x := v.terms[v.ids["one_name"]]; x.seen != 2 || x.used != 1 || x.last != 1 || x.lastUsed != 0 {
		t.Errorf("got %+v", x)
	}
}

func TestUniqueTerms(t *testing.T) {
	v := newVocabulary(1, 0)
	v.learn("b_name a_name", 0, true)
	terms, words := v.unique("the a_name, the b_name, the a_name and a new_name", nil)
	if !slices.Equal(terms, []int32{0, 1}) || words != 4 {
		t.Errorf("terms %v, %d words", terms, words)
	}
}

// Indexes of two halves make the same index, with the same IDs, as one scan.
func TestAppendIndex(t *testing.T) {
	word := rapid.SampledFrom([]string{"parseConfig", "retry_count", "store.go", "--dry-run", "the", "fox", "a/b/main.go", "\n", " ", "é"})
	rapid.Check(t, func(t *rapid.T) {
		var all []string
		for range rapid.IntRange(1, 6).Draw(t, "passages") {
			all = append(all, strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "text"), " "))
		}
		half := rapid.IntRange(0, len(all)).Draw(t, "half")
		whole, parts := indexSerially(all), indexSerially(all[:half])
		parts.appendIndex(indexSerially(all[half:]))
		if !slices.Equal(whole.ids, parts.ids) || !slices.Equal(whole.lines, parts.lines) || !slices.Equal(whole.ends, parts.ends) || !maps.Equal(whole.voc.ids, parts.voc.ids) {
			t.Fatalf("in halves %+v\nwant %+v", parts, whole)
		}
	})
}

func TestIndexTermsInParallel(t *testing.T) {
	var all []string
	for i := range 40 {
		all = append(all, strings.Repeat(fmt.Sprintf("call_%d and call_%d\n", i, i/2), 1000))
	}
	if f := indexTerms(all); len(f.voc.ids) != 40 || len(f.ends) != 40 || len(f.ids) != 80_000 {
		t.Errorf("%d terms, %d texts, %d uses", len(f.voc.ids), len(f.ends), len(f.ids))
	}
}

// A scanned line has the terms that scanning the printable line gives.
func TestScannedLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aB_/.-@~ 12→\t\r\x1b[m\u200b\u00a0\u202eé\n<>")), 0, 300, -1).Draw(t, "text") +
			rapid.SampledFrom([]string{"", "\n /home/ada/shop/web/checkout.tsx calls applyDiscount", "\n   12→\treturn  total_price"}).Draw(t, "more")
		p := &past{root: "/home/ada/shop/"}
		p.passages = []archive.Passage{{Text: "Read a.go\n" + text}}
		v := newView(p, Request{})
		at := -1
		for raw := range strings.SplitSeq(p.passages[0].Text, "\n") {
			at++
			l := v.scan(raw, at)
			if want, _ := printable(v.short(raw)); l.text != want {
				t.Fatalf("%q becomes %q, want %q", raw, l.text, want)
			}
			if terms, words := v.terms.find(l.text, nil); l.known && (!slices.Equal(terms, l.terms) || words != l.words) {
				t.Fatalf("%q, printed as %q: %v and %d words, want %v and %d", raw, l.text, l.terms, l.words, terms, words)
			}
		}
	})
}
