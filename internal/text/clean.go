package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes a text safe to print: without control characters, terminal
// sequences, characters that reorder or hide text, and invalid UTF-8. It keeps
// newlines and replaces tabs by blanks.
func Clean(s string) string {
	if isPlain(s) {
		return s
	}
	return strip(s, false)
}

// strip removes what Clean removes. flat replaces every run of white space by one
// blank, and removes it at the start and end.
func strip(s string, flat bool) string {
	var b strings.Builder
	b.Grow(len(s))
	blank := false // before the next character
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		unsafe := r != '\n' && r != '\t' && isUnsafe(r, size)
		switch {
		case r == 0x1b:
			if size = EscapeLen(s[i:]); size == 1 && strings.HasPrefix(s[i+1:], "[") {
				size++ // the introducer of an incomplete sequence
			}
		case unsafe:
		case flat && unicode.IsSpace(r):
			blank = b.Len() > 0
		case r == '\t':
			b.WriteByte(' ')
		default:
			if blank {
				b.WriteByte(' ')
				blank = false
			}
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// isPlain reports whether s is printable ASCII and newlines.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < 0x20 && c != '\n' {
			return false
		}
	}
	return true
}

// isUnsafe reports whether a decoded rune is invalid, a control character, or a
// character that reorders the text around it or is invisible.
func isUnsafe(r rune, size int) bool {
	return r == utf8.RuneError && size == 1 || unicode.IsControl(r) ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x61c || r == 0x200b || r == 0x200e || r == 0x200f || r == 0xfeff
}

// CleanLine returns s cleaned, with every run of white space replaced by one blank.
func CleanLine(s string) string {
	s = strings.TrimSpace(s)
	blanks := false
	for i := flatPrefix(s); i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c > ' ' && c != 0x7f:
			case c == ' ' && s[i+1] != ' ':
			case c == ' ' || c == '\t' || c == '\n':
				blanks = true
			default:
				return strip(s, true)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if isUnsafe(r, size) || unicode.IsSpace(r) {
			return strip(s, true)
		}
		i += size
	}
	if blanks {
		return OneLine(s)
	}
	return s
}

// flatPrefix returns the length of a prefix of s that is printable ASCII without
// two blanks in a row. It compares eight bytes at a time.
func flatPrefix(s string) int {
	const (
		ones = 0x0101010101010101
		high = 0x80 * ones
	)
	blank := uint64(0) // the byte before was one
	n := 0
	for ; n+8 <= len(s); n += 8 {
		eight := eightBytes(s[n:])
		// Each test sets the highest bit of a byte that fails it; a carry into the
		// next byte comes only from one that has failed.
		if (eight|(eight-' '*ones)|(eight+ones))&high != 0 {
			break
		}
		blanks := ^((eight ^ ' '*ones) + 0x7f*ones) & high
		if blanks&(blanks<<8|blank) != 0 {
			break
		}
		blank = blanks >> 63 << 7
	}
	return max(n-1, 0) // the next byte may be a second blank
}
