package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"strandline/internal/text"
)

// Marks that join what stands around them into one character.
const (
	zeroWidthJoiner = 0x200d
	emojiVariation  = 0xfe0f // shows the character before it as an emoji
)

// cells is the number of columns that a text takes on a terminal: two for wide
// characters (Chinese, Japanese, Korean, emoji), none for marks that are set on
// the character before them.
func cells(s string) int {
	n, last, joined := 0, 0, false
	for _, r := range s {
		w := runeCells(r)
		switch {
		case r == emojiVariation && last == 1:
			w = 1 // the one cell before becomes two
		case joined, last == 2 && skinTone(r):
			w = 0
		}
		joined = r == zeroWidthJoiner
		if w > 0 {
			last = w
		}
		n += w
	}
	return n
}

// cut shortens a text to at most n cells; an ellipsis marks the cut.
func cut(s string, n int) string {
	if cells(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	end := 0
	for i, r := range s {
		if cells(s[:i+utf8.RuneLen(r)]) > n-1 {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	return strings.TrimRight(s[:end], string(rune(zeroWidthJoiner))) + "…"
}

// broken breaks a text into at most lines rows of n cells, behind a blank where a
// row would not stay half empty; what does not fit is cut.
func broken(s string, n, lines int) []string {
	var out []string
	for len(out) < lines-1 && cells(s) > n && n > 1 {
		end := 0
		for i, r := range s {
			if cells(s[:i+utf8.RuneLen(r)]) > n {
				break
			}
			end = i + utf8.RuneLen(r)
		}
		if blank := strings.LastIndexByte(s[:end], ' '); blank > end/2 && s[end] != ' ' {
			end = blank
		}
		out = append(out, strings.TrimRight(s[:end], " "))
		s = strings.TrimLeft(s[end:], " ")
	}
	return append(out, cut(s, n))
}

// cutStart shortens a text to at most n cells and keeps its end, where paths
// differ.
func cutStart(s string, n int) string {
	if cells(s) <= n {
		return s
	}
	for i := range s {
		if cells(s[i:]) <= n-1 {
			return "…" + s[i:]
		}
	}
	return cut("…", n)
}

// pad fills a text up to n cells with blanks, in front of it if right is set.
func pad(s string, n int, right bool) string {
	blanks := strings.Repeat(" ", max(n-cells(s), 0))
	if right {
		return blanks + s
	}
	return s + blanks
}

func skinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// runeCells is the width of a character that stands by itself.
func runeCells(r rune) int {
	switch {
	case r >= 0x20 && r < 0x7f:
		return 1
	case r < 0x20, r >= 0x7f && r < 0xa0, r >= 0x1160 && r <= 0x11ff, // vowels that close a Hangul syllable
		unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case text.Wide(r):
		return 2
	}
	return 1
}
