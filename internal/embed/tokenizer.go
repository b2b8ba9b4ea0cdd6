package embed

import (
	"bytes"
	"slices"

	"strandline/internal/text"
)

// Limits of the tokenizer, in bytes. The table was trained with them.
const (
	maxRun    = 40 // longer runs of letters and digits are keys, hashes or data
	minPart   = 2
	maxPart   = 32
	minSplit  = 6 // length of a compound that is split
	maxSplit  = 24
	minPiece  = 3 // length of its pieces
	maxDepth  = 3
	stemAbove = 3 // words up to this length are not stemmed
)

// tokenizer splits a text into words and maps them to rows of a table. It can be
// reused.
type tokenizer struct {
	table  *table
	emit   func(row int)
	run    []byte
	lower  [maxRun]byte
	stem   [maxRun + 2]byte // a stem can be a letter longer than the word
	pieces [maxRun]int      // rows of a compound's pieces
}

// read calls emit for each known word of s, in order.
func (k *tokenizer) read(s string) {
	k.run = k.run[:0]
	for i := range len(s) {
		c := s[i]
		switch {
		case text.IsAlnum(c):
			if len(k.run) <= maxRun { // one more byte marks a run as too long
				k.run = append(k.run, c)
			}
		case c == '\'' && len(k.run) > 0 && i+1 < len(s) && text.IsLetter(s[i+1]):
			// an apostrophe inside a word, as in don't
		default:
			k.endRun()
		}
	}
	k.endRun()
}

// endRun emits the words of the current run of letters and digits.
func (k *tokenizer) endRun() {
	run := k.run
	k.run = k.run[:0]
	if len(run) == 0 || len(run) > maxRun {
		return
	}
	first := 1
	for first < len(run) && !startsWord(run, first) {
		first++
	}
	if first == len(run) {
		k.word(run)
		return
	}
	if row, flags, ok := k.find(run); ok && flags&flagWhole != 0 {
		k.emit(row)
		return
	}
	from := 0
	for at := first; at <= len(run); at++ {
		if at == len(run) || startsWord(run, at) {
			k.word(run[from:at])
			from = at
		}
	}
}

// startsWord reports whether a word starts at s[i], as in fooBar and HTTPServer, but
// not at a plural s after capitals at the end (URLs).
func startsWord(s []byte, i int) bool {
	return text.IsUpper(s[i]) && (!text.IsUpper(s[i-1]) || i+1 < len(s) && text.IsLower(s[i+1]) && (i+2 < len(s) || s[i+1] != 's'))
}

// word emits the row of a word: as it is, without digits at its end, or of the pieces
// of a compound.
func (k *tokenizer) word(word []byte) {
	if len(word) < minPart || len(word) > maxPart {
		return
	}
	if row, _, ok := k.find(word); ok {
		k.emit(row)
		return
	}
	if rest := bytes.TrimRight(word, "0123456789"); len(rest) < len(word) && len(rest) >= minPart {
		if row, _, ok := k.find(rest); ok {
			k.emit(row)
			return
		}
	}
	if !allLetters(word) || len(word) < minSplit || len(word) > maxSplit {
		return
	}
	lower := k.lower[:len(word)]
	toLower(lower, word)
	for _, row := range k.pieces[:k.split(lower, 0, 0)] {
		k.emit(row)
	}
}

// split splits a compound into pieces, the longest first, and returns their number,
// 0 if that fails. The first n pieces are known already.
func (k *tokenizer) split(s []byte, depth, n int) int {
	if len(s) < minPiece || depth > maxDepth {
		return 0
	}
	longest := len(s)
	if depth == 0 {
		longest -= minPiece
	}
	for l := longest; l >= minPiece; l-- {
		row, flags, ok := k.find(s[:l])
		if !ok || flags&flagPiece == 0 {
			continue
		}
		k.pieces[n] = row
		if l == len(s) {
			return n + 1
		}
		if done := k.split(s[l:], depth+1, n+1); done > 0 {
			return done
		}
	}
	return 0
}

// find finds a word in the table, in lower case and, if it consists of letters, by
// its stem.
func (k *tokenizer) find(word []byte) (row int, flags byte, ok bool) {
	stem := k.stem[:len(word)]
	toLower(stem, word)
	if len(stem) > stemAbove && allLetters(stem) {
		stem = porter(stem)
	}
	return k.table.find(stem)
}

func toLower(dst, src []byte) {
	for i, c := range src {
		if text.IsUpper(c) {
			c |= 0x20
		}
		dst[i] = c
	}
}

func allLetters(s []byte) bool {
	return !slices.ContainsFunc(s, func(c byte) bool { return !text.IsLetter(c) })
}
