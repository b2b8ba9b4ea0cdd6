package compact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes text safe to print: no control characters, no terminal
// sequences, no marks that reorder what follows, no invalid UTF-8. Newlines
// stay; tabs become blanks.
func clean(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\n':
			b.WriteByte('\n')
		case r == '\t':
			b.WriteByte(' ')
		case r == 0x1b:
			size = escapeLen(s[i:])
		case r == utf8.RuneError && size == 1, unicode.IsControl(r), reorders(r):
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// plain reports whether clean would change nothing, for the usual ASCII text.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < 0x20 && c != '\n' {
			return false
		}
	}
	return true
}

// escapeLen is the length of the terminal sequence that s begins with.
func escapeLen(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return 1
	}
	for i := 2; i < len(s) && i < 32; i++ {
		if c := s[i]; c >= 0x40 && c <= 0x7e {
			return i + 1
		}
	}
	return 2
}

// reorders reports whether r changes the direction of the text behind it, or is
// invisible and would hide a word from a reader.
func reorders(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200b || r == 0x200e || r == 0x200f || r == 0xfeff
}

// oneLine returns s cleaned, with every run of white space as one blank.
func oneLine(s string) string {
	s, _ = flat(s)
	return s
}

// flat is oneLine; whole reports that nothing but blanks was taken away, so that
// no two words have become one.
func flat(s string) (line string, whole bool) {
	s = strings.TrimSpace(s)
	blanks := false
	for i := smooth(s); i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c > ' ' && c != 0x7f:
			case c == ' ' && s[i+1] != ' ':
			case c == ' ' || c == '\t' || c == '\n':
				blanks = true
			default:
				return squeeze(s), false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) || reorders(r) || unicode.IsSpace(r) {
			return squeeze(s), false
		}
		i += size
	}
	if blanks {
		return squeezeBlanks(s), true
	}
	return s, true
}

// smooth returns how much of the beginning of s is printable ASCII without two
// blanks in a row, in steps of eight bytes.
func smooth(s string) int {
	const (
		ones = 0x0101010101010101
		high = 0x80 * ones
	)
	blank := uint64(0) // the byte before was one
	n := 0
	for ; n+8 <= len(s); n += 8 {
		p := s[n : n+8]
		eight := uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 |
			uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56
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

// squeezeBlanks makes one blank of every run of blanks, tabs and newlines.
func squeezeBlanks(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		at := strings.IndexAny(s, "\t\n")
		if two := strings.Index(s, "  "); two >= 0 && (at < 0 || two < at) {
			at = two
		}
		if at < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(strings.TrimRight(s[:at], " "))
		b.WriteByte(' ')
		s = strings.TrimLeft(s[at:], " \t\n")
	}
}

// squeeze is oneLine for what has to be rewritten.
func squeeze(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	blank := false
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0x1b:
			size = escapeLen(s[i:])
		case r == ' ' || r == '\n' || r == '\t':
			blank = true
		case r == utf8.RuneError && size == 1, unicode.IsControl(r), reorders(r):
		case unicode.IsSpace(r):
			blank = true
		default:
			if blank && b.Len() > 0 {
				b.WriteByte(' ')
			}
			blank = false
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}
