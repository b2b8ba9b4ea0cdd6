package terms

import (
	"unicode"
	"unicode/utf8"
)

// latin holds the base letters of U+00C0 to U+017F in order. '*' marks a character that
// folds to two letters (see pairs), ' ' a character that is not a letter.
const latin = "AAAAAA*CEEEEIIII" + "DNOOOOO OUUUUY**" + // 00C0
	"aaaaaa*ceeeeiiii" + "dnooooo ouuuuy*y" + // 00E0
	"AaAaAaCcCcCcCcDd" + "DdEeEeEeEeEeGgGg" + // 0100
	"GgGgHhHhIiIiIiIi" + "Ii**JjKkkLlLlLlL" + // 0120
	"lLlNnNnNnnNnOoOo" + "Oo**RrRrRrSsSsSs" + // 0140
	"SsTtTtTtUuUuUuUu" + "UuUuWwYyYZzZzZzs" // 0160

// pairs returns the two letters of a character that latin marks with '*'.
func pairs(r rune) string {
	switch r {
	case 'Æ', 'æ':
		return "ae"
	case 'Þ', 'þ':
		return "th"
	case 'ß':
		return "ss"
	case 'Ĳ', 'ĳ':
		return "ij"
	case 'Œ', 'œ':
		return "oe"
	}
	return ""
}

// isFolded reports whether r folds to a digit although Unicode does not list it as one.
func isFolded(r rune) bool {
	return r == '²' || r == '³' || r == '¹' || r >= 0x2070 && r <= 0x2089
}

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
			return append(dst, pairs(r)...)
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
