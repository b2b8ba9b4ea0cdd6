package recall

import (
	"iter"
	"strings"

	"strandline/internal/archive"
)

// pieceOverlap is how much of a piece the next one repeats, so that words which
// stand near each other stand together in one of them.
const pieceOverlap = archive.MaxPassage / 4

// pieces cuts text into overlapping pieces of at most archive.MaxPassage bytes,
// at line ends where there are any.
func pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > archive.MaxPassage {
			end := cutBefore(text, archive.MaxPassage)
			if !yield(text[:end]) {
				return
			}
			text = text[cutBefore(text, end-pieceOverlap):]
		}
		if strings.TrimSpace(text) != "" {
			yield(text)
		}
	}
}

// cutBefore returns the best place to cut at or before n: behind the last line
// end in the second half, else between two characters.
func cutBefore(s string, n int) int {
	if at := strings.LastIndexByte(s[:n], '\n'); at >= n/2 {
		return at + 1
	}
	at := n
	for at > n-4 && at > 0 && s[at]&0xC0 == 0x80 {
		at--
	}
	if s[at]&0xC0 == 0x80 {
		return n // not UTF-8 here
	}
	return at
}
