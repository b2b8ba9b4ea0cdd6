package terms

import "unicode"

// The classes of a byte. Bytes of multi-byte characters are classRune and are
// looked at as runes.
const (
	classOther = iota
	classLower
	classUpper
	classDigit
	classRune
)

// class returns the class of a byte. A comparison chain is as fast as a table
// here and needs no set-up.
func class(c byte) int {
	switch {
	case 'a' <= c && c <= 'z':
		return classLower
	case 'A' <= c && c <= 'Z':
		return classUpper
	case '0' <= c && c <= '9':
		return classDigit
	case c >= 0x80:
		return classRune
	}
	return classOther
}

func isHexByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// isCJK reports whether r belongs to a script that is written without spaces
// and is therefore cut into pairs. Hangul is included: its words carry
// particles, and pairs find the stem.
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
