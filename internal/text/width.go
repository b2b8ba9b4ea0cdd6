package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cells returns the number of terminal columns that s takes: two for wide
// characters (Chinese, Japanese, Korean, emoji), none for combining characters
// and for escape sequences.
func Cells(s string) (n int) {
	for c := (cellCounter{s: s}); c.next(); {
		n = c.cells
	}
	return n
}

// PrefixCells returns the length in bytes of the longest prefix of s that takes
// at most n terminal columns.
func PrefixCells(s string, n int) (end int) {
	for c := (cellCounter{s: s}); c.next() && c.cells <= n; {
		end = c.at
	}
	return end
}

// TruncateCells shortens s to at most n terminal columns, ellipsis included.
func TruncateCells(s string, n int) string {
	switch {
	case len(s) <= n || Cells(s) <= n: // no character is wider than its bytes
		return s
	case n <= 0:
		return ""
	}
	return strings.TrimRight(s[:PrefixCells(s, n-1)], string(rune(zeroWidthJoiner))) + ellipsis
}

const (
	zeroWidthJoiner = 0x200d // joins the characters around it into one
	emojiVariation  = 0xfe0f // shows the character before it as an emoji, two columns wide
)

// cellCounter counts the columns of a text, one character at a time.
type cellCounter struct {
	s      string
	at     int // end of the last character
	cells  int // of s[:at]
	last   int // width of the last visible character
	joined bool
}

// next adds one character, or one escape sequence.
func (c *cellCounter) next() bool {
	if c.at >= len(c.s) {
		return false
	}
	if n := EscapeLen(c.s[c.at:]); n > 0 {
		c.at += n
		return true
	}
	r, size := utf8.DecodeRuneInString(c.s[c.at:])
	c.at += size
	w := runeCells(r)
	switch {
	case r == emojiVariation && c.last == 1:
		w = 1 // the column before becomes two
	case c.joined, c.last == 2 && r >= 0x1f3fb && r <= 0x1f3ff: // a skin tone
		w = 0
	}
	c.joined = r == zeroWidthJoiner
	if w > 0 {
		c.last = w
	}
	c.cells += w
	return true
}

// runeCells returns the width of a single character.
func runeCells(r rune) int {
	switch {
	case r >= 0x20 && r < 0x7f:
		return 1
	case r < 0x20, r >= 0x7f && r < 0xa0, r >= 0x1160 && r <= 0x11ff, // vowels and finals of a Hangul syllable
		unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case isWide(r):
		return 2
	}
	return 1
}

// isWide reports whether the East Asian Width of r (UAX #11, version 16) is Wide
// or Fullwidth.
func isWide(r rune) bool {
	if r < 0x1100 {
		return false
	}
	for _, x := range [...][2]rune{
		{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0}, {0x23f3, 0x23f3}, {0x25fd, 0x25fe},
		{0x2614, 0x2615}, {0x2630, 0x2637}, {0x2648, 0x2653}, {0x267f, 0x267f}, {0x268a, 0x268f}, {0x2693, 0x2693}, {0x26a1, 0x26a1},
		{0x26aa, 0x26ab}, {0x26bd, 0x26be}, {0x26c4, 0x26c5}, {0x26ce, 0x26ce}, {0x26d4, 0x26d4}, {0x26ea, 0x26ea}, {0x26f2, 0x26f3},
		{0x26f5, 0x26f5}, {0x26fa, 0x26fa}, {0x26fd, 0x26fd}, {0x2705, 0x2705}, {0x270a, 0x270b}, {0x2728, 0x2728}, {0x274c, 0x274c},
		{0x274e, 0x274e}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797}, {0x27b0, 0x27b0}, {0x27bf, 0x27bf}, {0x2b1b, 0x2b1c},
		{0x2b50, 0x2b50}, {0x2b55, 0x2b55}, {0x2e80, 0x303e}, {0x3041, 0x3247}, {0x3250, 0xa4c6}, {0xa960, 0xa97c}, {0xac00, 0xd7a3},
		{0xf900, 0xfaff}, {0xfe10, 0xfe19}, {0xfe30, 0xfe6b}, {0xff01, 0xff60}, {0xffe0, 0xffe6}, {0x16fe0, 0x18cff}, {0x1aff0, 0x1b2ff},
		{0x1d300, 0x1d376}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320},
		{0x1f32d, 0x1f335}, {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0},
		{0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e},
		{0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5},
		{0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6d7}, {0x1f6dc, 0x1f6df}, {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc},
		{0x1f7e0, 0x1f7eb}, {0x1f7f0, 0x1f7f0}, {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff},
		{0x20000, 0x2fffd}, {0x30000, 0x3fffd},
	} {
		if r <= x[1] {
			return r >= x[0]
		}
	}
	return false
}
