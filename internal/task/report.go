package task

import (
	"fmt"
	"strconv"

	"strandline/internal/archive"
)

// Report says in one line what was summarised: "Compressed 3 segments (6,200 ->
// 980 tokens)". It is empty where nothing was.
func Report(facts []archive.SegmentFact) string {
	n, before, after := 0, 0, 0
	for _, f := range facts {
		if f.Event == archive.SegmentSummarised || f.Event == archive.SegmentSaved {
			n, before, after = n+1, before+f.Segment.OriginalTokens, after+f.Segment.CompressedTokens
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("Compressed 1 segment (%s -> %s tokens)", thousands(before), thousands(after))
	}
	return fmt.Sprintf("Compressed %d segments (%s -> %s tokens)", n, thousands(before), thousands(after))
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
