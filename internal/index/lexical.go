// Package lexical is what every store does the same way when it indexes and
// ranks passages by their words. A store only has to keep, for each passage, the
// row of terms that Encoder makes, and to list the passages that hold a term;
// which passage is better is decided here, so the same query gives the same
// hits whatever database lies below.
//
// Ranking takes two steps. First every term's list of passages is merged into
// candidates (Merge): each passage gets, per term, one of two impacts that the
// index knows without reading the text. Then the best candidates are read and
// scored in full by BM25 (Ranker).
package index

import (
	"math"

	"strandline/internal/archive"
)

// The parameters of BM25, and the length in terms of a usual passage. A constant
// instead of the archive's own average makes a score independent of what else
// was imported.
const (
	k1        = 1.2
	b         = 0.75
	usualSize = 160
)

// StrongMark is appended to a term in a passage's row where the term weighs
// much: it occurs often, or the passage is short. Terms are made of letters,
// digits and dots, in which superscripts are folded, so none ends like this.
const StrongMark = "²"

// strongFrom is the impact from which a term is marked; the two impacts stand
// for what lies above and below it.
const (
	strongFrom   = 1.25
	strongImpact = 1.6
	weakImpact   = 0.8
)

// impact is BM25's saturation: what tf occurrences among size terms weigh.
func impact(tf, size float64) float64 {
	return tf * (k1 + 1) / (tf + k1*(1-b+b*size/usualSize))
}

// idf weighs a term that df of n passages hold; rare ones weigh more, and none
// less than zero.
func idf(df, n int) float64 {
	return math.Log1p((float64(max(n-df, 0)) + 0.5) / (float64(df) + 0.5))
}

// KindWeight is how much a hit in a passage of that kind counts: what a person
// or the agent said in words, over what a tool printed.
func KindWeight(k archive.PassageKind) float64 {
	switch k {
	case archive.KindPrompt:
		return 1.15
	case archive.KindReply, archive.KindSummary:
		return 1.05
	case archive.KindOutput:
		return 0.85
	}
	return 1
}
