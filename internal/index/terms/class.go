package terms

import (
	"unicode"
	"unicode/utf8"
)

// The classes of a byte. Bytes of multi-byte characters are classRune.
const (
	classOther = iota
	classLower
	classUpper
	classDigit
	classRune
)

// asciiClass holds the class of every byte of ASCII.
const asciiClass = "" +
	"0000000000000000" +
	"0000000000000000" +
	"0000000000000000" +
	"3333333333000000" +
	"0222222222222222" +
	"2222222222200000" +
	"0111111111111111" +
	"1111111111100000"

func class(c byte) int {
	if c >= utf8.RuneSelf {
		return classRune
	}
	return int(asciiClass[c] - '0')
}

func isHexByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// isCJK reports whether r belongs to a script that is indexed in pairs of characters,
// because it has no spaces between words. That includes Hangul: its words have particles,
// and pairs match the stem.
func isCJK(r rune) bool {
	switch {
	case r < 0x2E80:
		return false
	case r <= 0x9FFF: // radicals, kana, bopomofo, ideographs
		return r >= 0x3400 || unicode.IsLetter(r)
	case r >= 0xAC00 && r <= 0xD7AF: // Hangul syllables
		return true
	case r >= 0xF900 && r <= 0xFAFF: // compatibility ideographs
		return true
	case r >= 0xFF66 && r <= 0xFF9F: // half-width kana
		return true
	}
	return r >= 0x20000 && r <= 0x3FFFF
}

// isWordRune reports whether a rune outside ASCII is part of a word.
func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || isFolded(r)
}
