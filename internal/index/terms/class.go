package terms

import (
	"strings"
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
const asciiClass = "0000000000000000" + "0000000000000000" + // control characters
	"0000000000000000" + "3333333333000000" +
	"0222222222222222" + "2222222222200000" +
	"0111111111111111" + "1111111111100000"

func class(c byte) int {
	if c >= utf8.RuneSelf {
		return classRune
	}
	return int(asciiClass[c] - '0')
}

// isCJK reports whether r belongs to a script that is indexed in pairs of characters,
// because it has no spaces between words. That includes Hangul: its words have particles,
// and pairs match the stem.
func isCJK(r rune) bool {
	return r >= 0x3400 && r <= 0x9FFF || // ideographs
		r >= 0x2E80 && r < 0x3400 && unicode.IsLetter(r) || // radicals, kana, bopomofo
		r >= 0xAC00 && r <= 0xD7AF || // Hangul syllables
		r >= 0xF900 && r <= 0xFAFF || // compatibility ideographs
		r >= 0xFF66 && r <= 0xFF9F || // half-width kana
		r >= 0x20000 && r <= 0x3FFFF
}

// isWordRune reports whether a rune outside ASCII is part of a word.
func isWordRune(r rune) bool {
	folded := r == '²' || r == '³' || r == '¹' || r >= 0x2070 && r <= 0x2089 // digits that Unicode does not list as such
	return folded || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// latin holds the base letters of U+00C0 to U+017F in order. '*' marks a character that
// folds to two letters (see pairs), ' ' a character that is not a letter.
const latin = "AAAAAA*CEEEEIIII" + "DNOOOOO OUUUUY**" + // 00C0
	"aaaaaa*ceeeeiiii" + "dnooooo ouuuuy*y" + // 00E0
	"AaAaAaCcCcCcCcDd" + "DdEeEeEeEeEeGgGg" + // 0100
	"GgGgHhHhIiIiIiIi" + "Ii**JjKkkLlLlLlL" + // 0120
	"lLlNnNnNnnNnOoOo" + "Oo**RrRrRrSsSsSs" + // 0140
	"SsTtTtTtUuUuUuUu" + "UuUuWwYyYZzZzZzs" // 0160

// pairs holds the characters that latin marks with '*', each followed by its two letters.
const pairs = "ÆaeæaeÞthþthßssĲijĳijŒoeœoe"

// appendFolded appends r in its compatibility form: without diacritics,
// full-width forms and superscripts as plain characters, ligatures resolved.
// Latin letters keep their case, which marks the parts of camelCase names; others
// become lower case.
func appendFolded(dst []byte, r rune) []byte {
	switch {
	case r < utf8.RuneSelf:
		return append(dst, byte(r))
	case r >= 0x00C0 && r <= 0x017F:
		switch c := latin[r-0x00C0]; c {
		case '*':
			_, letters, _ := strings.Cut(pairs, string(r))
			return append(dst, letters[:2]...)
		case ' ':
			return dst
		default:
			return append(dst, c)
		}
	case r >= 0x0300 && r <= 0x036F: // combining marks
		return dst
	case r == '¹':
		return append(dst, '1')
	case r == '²' || r == '³':
		return append(dst, '0'+byte(r-0xB0))
	case r >= 0x2070 && r <= 0x2079:
		return append(dst, '0'+byte(r-0x2070))
	case r >= 0x2080 && r <= 0x2089:
		return append(dst, '0'+byte(r-0x2080))
	case r >= 0xFF01 && r <= 0xFF5E: // full-width ASCII
		return append(dst, byte(r-0xFEE0))
	case r >= 0xFB00 && r <= 0xFB06:
		return append(dst, [...]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}[r-0xFB00]...)
	case r == utf8.RuneError:
		return dst
	}
	return utf8.AppendRune(dst, unicode.ToLower(r))
}
