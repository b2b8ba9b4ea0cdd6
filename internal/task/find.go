package task

import (
	"cmp"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// Search returns the segments whose summary or topic holds a word of the query,
// those that hold most of its words first; archived ones only if cold is set.
// They are few and short, so they are read one by one.
func (s *State) Search(query string, cold bool) []Entry {
	want := map[string]bool{}
	for w := range strings.FieldsSeq(terms.Index(query)) {
		if !terms.Stop(w) {
			want[w] = true
		}
	}
	type hit struct {
		Entry
		words int
	}
	var hits []hit
	for _, e := range s.Summarised() {
		if e.Tier == archive.TierCold && !cold {
			continue
		}
		found := map[string]bool{}
		for w := range strings.FieldsSeq(terms.Index(e.Topic + "\n" + e.Content)) {
			if want[w] {
				found[w] = true
			}
		}
		if len(found) > 0 {
			hits = append(hits, hit{e, len(found)})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Or(b.words-a.words, b.CompressedAt.Compare(a.CompressedAt)) })
	out := make([]Entry, len(hits))
	for i, h := range hits {
		out[i] = h.Entry
	}
	return out
}
