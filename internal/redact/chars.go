package redact

func isLower(c byte) bool  { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return isLower(c | 0x20) }
func isAlnum(c byte) bool  { return isLetter(c) || isDigit(c) }
func isWord(c byte) bool   { return isAlnum(c) || c == '_' }
func isHex(c byte) bool    { return isDigit(c) || c >= 'a' && c <= 'f' }

// isBase32 is the alphabet of AWS key ids.
func isBase32(c byte) bool { return isUpper(c) || isDigit(c) }

// isBase64 is the standard alphabet with its padding.
func isBase64(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '=' }

// isURLSafe is the URL-safe base64 alphabet.
func isURLSafe(c byte) bool { return isWord(c) || c == '-' }

// isDotted is the alphabet of tokens in several parts.
func isDotted(c byte) bool { return isURLSafe(c) || c == '.' }

// isBearer is the alphabet of a bearer credential (RFC 6750, b64token).
func isBearer(c byte) bool { return isBase64(c) || isDotted(c) || c == '~' }

// isConstant is the alphabet of environment names.
func isConstant(c byte) bool { return isUpper(c) || isDigit(c) || c == '_' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func isBreak(c byte) bool { return c == '\n' || c == '\r' }

// run returns how many bytes s begins with that are in the set.
func run(s string, set func(byte) bool) int {
	n := 0
	for n < len(s) && set(s[n]) {
		n++
	}
	return n
}

// borderBefore reports whether a token may begin at i: at the start, or behind
// a byte that is no part of a word. The n of an escaped newline and the digits
// of a %3D are no part of one.
func borderBefore(s string, i int) bool {
	if i == 0 || !isWord(s[i-1]) {
		return true
	}
	if i >= 2 && s[i-2] == '\\' && (s[i-1] == 'n' || s[i-1] == 't' || s[i-1] == 'r') {
		return true
	}
	return i >= 3 && s[i-3] == '%' && isHex(s[i-2]|0x20) && isHex(s[i-1]|0x20)
}

// borderAfter reports whether a token may end before i.
func borderAfter(s string, i int) bool { return i >= len(s) || !isWord(s[i]) }

// mix counts what a value is made of.
type mix struct {
	lower, upper, digit, other int
}

func mixOf(s string) mix {
	var m mix
	for i := range len(s) {
		switch c := s[i]; {
		case isLower(c):
			m.lower++
		case isUpper(c):
			m.upper++
		case isDigit(c):
			m.digit++
		default:
			m.other++
		}
	}
	return m
}

func (m mix) letters() int { return m.lower + m.upper }

// blanked reports whether s is what people write where a secret would stand:
// nothing but x, stars, dots and dashes.
func blanked(s string) bool {
	return run(s, func(c byte) bool {
		return c|0x20 == 'x' || c == '*' || c == '.' || c == '-' || c == '_' || c == '#'
	}) == len(s)
}
