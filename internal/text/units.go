// Package brief fits text into a budget: it counts as the client counts, cuts
// without breaking characters, chooses the best items that fit, and fences what
// is put into a context so that it reads as a record and can be found again.
package text

import (
	"strings"
	"unicode/utf8"
)

const ellipsis = "…" // one UTF-16 unit

// Units counts the UTF-16 code units of s, which is how the client measures its
// caps: an é is one, an emoji two. A byte that is not UTF-8 counts as one, the
// replacement character that it becomes in JSON.
func Units(s string) int {
	n := ASCII(s) // most text is nothing else
	for _, r := range s[n:] {
		n += width(r)
	}
	return n
}

// ASCII returns the length of the ASCII that s begins with, in bytes.
func ASCII(s string) int {
	const high = 0x8080808080808080
	n := 0
	for ; n+8 <= len(s); n += 8 {
		p := s[n : n+8]
		eight := uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 |
			uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56
		if eight&high != 0 {
			break
		}
	}
	for n < len(s) && s[n] < utf8.RuneSelf {
		n++
	}
	return n
}

// width is the number of UTF-16 units of one rune.
func width(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// Cut shortens s to at most the given units, ellipsis included. It cuts between
// characters only, and drops blanks before the ellipsis. A text that fits is
// returned as it is; a budget below one gives "".
func Cut(s string, units int) string {
	if len(s) <= units { // never more units than bytes
		return s
	}
	if units <= 0 {
		return ""
	}
	plain := 0
	for plain <= units && s[plain] < utf8.RuneSelf {
		plain++
	}
	if plain > units { // ASCII as far as it matters
		return strings.TrimRight(s[:units-1], " \t\r\n") + ellipsis
	}
	end, n := 0, 0 // s[:end] is what still fits beside the ellipsis
	for i, r := range s {
		n += width(r)
		if n <= units-1 {
			_, size := utf8.DecodeRuneInString(s[i:])
			end = i + size
		}
		if n > units {
			return strings.TrimRight(s[:end], " \t\r\n") + ellipsis
		}
	}
	return s
}
