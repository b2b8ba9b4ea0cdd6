package redact

import (
	"strings"

	"strandline/internal/text"
)

func isWord(c byte) bool { return text.IsAlnum(c) || c == '_' }
func isHex(c byte) bool  { return text.IsDigit(c) || c >= 'a' && c <= 'f' }

// isBase32 is the alphabet of AWS key IDs.
func isBase32(c byte) bool { return text.IsUpper(c) || text.IsDigit(c) }

// isBase64 is the standard alphabet with padding.
func isBase64(c byte) bool { return text.IsAlnum(c) || c == '+' || c == '/' || c == '=' }

// isURLSafe is the URL-safe base64 alphabet.
func isURLSafe(c byte) bool { return isWord(c) || c == '-' }

// isDotted is the alphabet of tokens with several parts.
func isDotted(c byte) bool { return isURLSafe(c) || c == '.' }

// isBearer is the alphabet of a bearer credential (RFC 6750, b64token).
func isBearer(c byte) bool { return isBase64(c) || isDotted(c) || c == '~' }

// isConstant is the alphabet of environment variable names.
func isConstant(c byte) bool { return text.IsUpper(c) || text.IsDigit(c) || c == '_' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func isBreak(c byte) bool { return c == '\n' || c == '\r' }

// run returns the length of the prefix of s whose bytes are all in the set.
func run(s string, set func(byte) bool) int {
	n := 0
	for n < len(s) && set(s[n]) {
		n++
	}
	return n
}

// borderBefore reports whether a token can begin at i: no word byte precedes it.
// The n of an escaped newline and the digits of %3D do not count as word bytes.
func borderBefore(s string, i int) bool {
	return i == 0 || !isWord(s[i-1]) || !sameName(s, i) || i >= 3 && s[i-3] == '%' && isHex(s[i-2]|0x20) && isHex(s[i-1]|0x20)
}

// borderAfter reports whether a token can end at i.
func borderAfter(s string, i int) bool { return i >= len(s) || !isWord(s[i]) }

// listed reports whether word is one of the words of a list, separated by blanks.
func listed(list, word string) bool {
	if word == "" || strings.IndexByte(word, ' ') >= 0 {
		return false
	}
	for {
		i := strings.Index(list, word)
		if i < 0 {
			return false
		}
		end := i + len(word)
		if (i == 0 || list[i-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		list = list[end:]
	}
}

// containsFold reports whether s contains a word in lower case, ignoring case.
func containsFold(s, word string) bool {
	for i := 0; i+len(word) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// mix counts the bytes of a value by class.
type mix struct {
	lower, upper, digit, other int
}

func mixOf(s string) mix {
	var m mix
	for i := range len(s) {
		switch c := s[i]; {
		case text.IsLower(c):
			m.lower++
		case text.IsUpper(c):
			m.upper++
		case text.IsDigit(c):
			m.digit++
		default:
			m.other++
		}
	}
	return m
}

func (m mix) letters() int { return m.lower + m.upper }

// masked reports whether s consists of characters such as x, * and -, which
// replace a secret in documentation.
func masked(s string) bool {
	return strings.Trim(s, "xX*.-_#") == ""
}
