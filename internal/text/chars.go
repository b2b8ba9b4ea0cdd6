package text

import "unicode/utf8"

// IsLower reports whether c is an ASCII lower-case letter.
func IsLower(c byte) bool { return c >= 'a' && c <= 'z' }

// IsUpper reports whether c is an ASCII upper-case letter.
func IsUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// IsDigit reports whether c is an ASCII digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// IsLetter reports whether c is an ASCII letter.
func IsLetter(c byte) bool { return IsLower(c | 0x20) }

// IsAlnum reports whether c is an ASCII letter or digit.
func IsAlnum(c byte) bool { return IsLetter(c) || IsDigit(c) }

// HasLetter reports whether s holds an ASCII letter.
func HasLetter(s string) bool {
	for i := range len(s) {
		if IsLetter(s[i]) {
			return true
		}
	}
	return false
}

// Prefix returns the longest prefix of s that has at most n bytes and ends
// between characters.
func Prefix(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:max(n, 0)]
}
