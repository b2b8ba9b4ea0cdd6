package recall

import (
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// asWritten returns the words of a query that is searched as it is written: all of them
// are names, options or pieces of code, such as canDelete, -race or -count=1. It is nil
// for any other query, and for one without words.
func asWritten(query string) []string {
	words := strings.Fields(strings.ReplaceAll(query, `"`, " "))
	if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return !isCode(w) }) {
		return nil
	}
	return words
}

// isCode reports whether a word has the structure of a name, an option or code.
func isCode(w string) bool {
	return looksLikeName(w) && !strings.HasSuffix(w, "*") || strings.ContainsAny(w, "=(){}[]<>+$&|'") || len(w) > 2 && w[0] == '-'
}

// writtenFirst moves the hits to the front that contain most of the words as they are
// written, then those that contain them in another case. Within each group the order
// stays.
func writtenFirst(hits []Hit, words []string) {
	if len(words) == 0 {
		return
	}
	found := make(map[*Hit]int, len(hits))
	order := make([]*Hit, len(hits))
	for i := range hits {
		order[i] = &hits[i]
		lower := strings.ToLower(hits[i].Text)
		for _, w := range words {
			switch {
			case strings.Contains(hits[i].Text, w):
				found[order[i]] += 2
			case strings.Contains(lower, strings.ToLower(w)):
				found[order[i]]++
			}
		}
	}
	slices.SortStableFunc(order, func(x, y *Hit) int { return found[y] - found[x] })
	sorted := make([]Hit, len(hits))
	for i, h := range order {
		sorted[i] = *h
	}
	copy(hits, sorted)
}

// contains reports whether a hit contains one of the words, in any case.
func contains(h Hit, words []string) bool {
	text := strings.ToLower(h.Text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, strings.ToLower(w)) })
}

// matchStarts lets the identifiers among words match longer ones: their start is typed as
// often as all of them.
func matchStarts(query []archive.Term, words []string) {
	for _, w := range words {
		if parts := terms.Query(w); len(parts) > 1 {
			for i := range query {
				query[i].Prefix = query[i].Prefix || query[i].Text == parts[0].Text && !query[i].Must
			}
		}
	}
}
