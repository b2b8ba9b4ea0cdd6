package compact

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
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
		if !slices.Equal(whole.ids, parts.ids) || !slices.Equal(whole.ends, parts.ends) || !maps.Equal(whole.voc.ids, parts.voc.ids) {
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
