package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"
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
	case wide(r):
		return 2
	}
	return 1
}

// wide reports that Unicode's East Asian Width (UAX #11, version 16) of a
// character is Wide or Fullwidth.
func wide(r rune) bool {
	if r < 0x1100 {
		return false
	}
	for _, x := range [...][2]rune{
		{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0}, {0x23f3, 0x23f3},
		{0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2630, 0x2637}, {0x2648, 0x2653}, {0x267f, 0x267f}, {0x268a, 0x268f},
		{0x2693, 0x2693}, {0x26a1, 0x26a1}, {0x26aa, 0x26ab}, {0x26bd, 0x26be}, {0x26c4, 0x26c5}, {0x26ce, 0x26ce},
		{0x26d4, 0x26d4}, {0x26ea, 0x26ea}, {0x26f2, 0x26f3}, {0x26f5, 0x26f5}, {0x26fa, 0x26fa}, {0x26fd, 0x26fd},
		{0x2705, 0x2705}, {0x270a, 0x270b}, {0x2728, 0x2728}, {0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753, 0x2755},
		{0x2757, 0x2757}, {0x2795, 0x2797}, {0x27b0, 0x27b0}, {0x27bf, 0x27bf}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b50},
		{0x2b55, 0x2b55}, {0x2e80, 0x303e}, {0x3041, 0x3247}, {0x3250, 0xa4c6}, {0xa960, 0xa97c}, {0xac00, 0xd7a3},
		{0xf900, 0xfaff}, {0xfe10, 0xfe19}, {0xfe30, 0xfe6b}, {0xff01, 0xff60}, {0xffe0, 0xffe6},
		{0x16fe0, 0x18cff}, {0x1aff0, 0x1b2ff}, {0x1d300, 0x1d376}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf},
		{0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c},
		{0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4},
		{0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e},
		{0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f},
		{0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6d7}, {0x1f6dc, 0x1f6df},
		{0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb}, {0x1f7f0, 0x1f7f0}, {0x1f90c, 0x1f93a},
		{0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x2fffd}, {0x30000, 0x3fffd},
	} {
		if r <= x[1] {
			return r >= x[0]
		}
	}
	return false
}
