package embed

import (
	"unicode"
	"unicode/utf8"
)

// A text is embedded in pieces of ChunkSize characters that begin ChunkStep
// apart; the cosine of a text is the largest of its pieces'. One vector for a
// long text says a little of everything in it and nothing clearly.
const (
	ChunkSize = 700
	ChunkStep = 525
)

// Chunks cuts a text into the pieces that are embedded, after every run of white
// space has become one blank. A text of ChunkSize characters or less is one
// piece, one of white space none.
func Chunks(text string) []string {
	flat, starts := collapse(text)
	if len(flat) == 0 {
		return nil
	}
	var out []string
	for i, from := range starts {
		// The next piece but one begins at 2*ChunkStep; this one ends before it.
		to, last := endOf(flat, from, starts, i)
		out = append(out, flat[from:to])
		if last {
			break
		}
	}
	return out
}

// endOf returns where the piece that begins at starts[i] ends, and whether it
// reaches the end of the text.
func endOf(flat string, from int, starts []int, i int) (to int, last bool) {
	n, to := 0, from
	if i+1 < len(starts) { // count on from a place that is known
		n, to = ChunkStep, starts[i+1]
	}
	for to < len(flat) && n < ChunkSize {
		_, size := utf8.DecodeRuneInString(flat[to:])
		to += size
		n++
	}
	return to, to == len(flat)
}

// collapse makes each run of white space one blank, drops it at both ends, and
// returns the offsets of every ChunkStep-th character.
func collapse(text string) (flat string, starts []int) {
	b := make([]byte, 0, len(text))
	n, blank := 0, false
	put := func(s string) {
		if n%ChunkStep == 0 {
			starts = append(starts, len(b))
		}
		b = append(b, s...)
		n++
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) {
			blank = len(b) > 0
		} else {
			if blank {
				put(" ")
				blank = false
			}
			put(text[i : i+size])
		}
		i += size
	}
	return string(b), starts
}
