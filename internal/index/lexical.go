package index

import (
	"math"

	"strandline/internal/archive"
)

// The parameters of BM25, and the length of an average passage in terms. A constant
// average makes scores independent of the other contents of the archive.
const (
	k1        = 1.2
	b         = 0.75
	usualSize = 160
)

// StrongMark is appended to a term in a passage's row if its impact is high: the term occurs
// often, or the passage is short. Terms contain no superscripts, so none ends with it.
const StrongMark = "²"

// strongFrom is the impact from which a term is marked. strongImpact and weakImpact are the
// average impacts above and below it.
const (
	strongFrom   = 1.25
	strongImpact = 1.6
	weakImpact   = 0.8
)

// impact returns BM25's saturated weight of tf occurrences among size terms.
func impact(tf, size float64) float64 {
	return tf * (k1 + 1) / (tf + k1*(1-b+b*size/usualSize))
}

// idf returns the weight of a term that occurs in df of n passages. It is not negative.
func idf(df, n int) float64 {
	return math.Log1p((float64(max(n-df, 0)) + 0.5) / (float64(df) + 0.5))
}

// KindWeight returns the factor of a passage's score for its kind: text of the user and the
// agent counts more than output of tools.
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
