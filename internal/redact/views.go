package redact

import (
	"strings"
	"unicode/utf8"

	"strandline/internal/text"
)

// view is a text without the characters that divide names and secrets but do not
// show (zero-width characters, terminal colours), and with percent signs, entities
// and JSON escapes decoded.
type view struct {
	text    string
	offsets []int32 // in the original text, one for each byte and one for the end
}

// plainView returns the view of s, or false if s has no such characters.
func plainView(s string) (view, bool) {
	i := hidden(s)
	if i < 0 || len(s) > 1<<30 {
		return view{}, false
	}
	b := make([]byte, 0, len(s))
	offsets := make([]int32, 0, len(s)+1)
	put := func(c byte, at int) { b, offsets = append(b, c), append(offsets, int32(at)) }
	for at := 0; at < len(s); {
		c, n := byte(0), 0
		if s[at] == 0x1b || s[at] >= 0x80 || s[at] == '%' || s[at] == '&' || s[at] == '\\' {
			c, n = decoded(s[at:])
		}
		switch {
		case n == 0:
			put(s[at], at)
			at++
		case c == 0: // nothing shows
			at += n
		default:
			put(c, at)
			at += n
		}
	}
	offsets = append(offsets, int32(len(s)))
	return view{string(b), offsets}, len(b) < len(s)
}

// hidden returns the offset of the first byte that may begin such a character.
func hidden(s string) int {
	if i := strings.IndexByte(s, 0x1b); i >= 0 {
		return i
	}
	for _, lit := range []string{"\u200b"[:2], "\ufeff", "\u00ad", "%3", "%2", `\u00`, "&quot;", "&#", "&amp;", "\uff1a", "\uff1d"} {
		if i := strings.Index(s, lit); i >= 0 {
			return i
		}
	}
	return -1
}

// decoded returns the character that s shows instead of its first n bytes: 0 if
// nothing shows. n is 0 for an ordinary character.
func decoded(s string) (c byte, n int) {
	switch s[0] {
	case 0x1b:
		return 0, escapeSequence(s)
	case '%':
		if len(s) > 2 && (s[1] == '3' && strings.IndexByte("aAdD", s[2]) >= 0 || s[1] == '2' && strings.IndexByte("0267bBfF", s[2]) >= 0) {
			return hexByte(s[1:3]), 3
		}
	case '\\':
		if strings.HasPrefix(s, `\u00`) && len(s) >= 6 && isHex(s[4]|0x20) && isHex(s[5]|0x20) {
			if c := hexByte(s[4:6]); c >= ' ' && c < 0x7f && !text.IsAlnum(c) {
				return c, 6
			}
		}
	case '&':
		for _, e := range [...]struct {
			name string
			c    byte
		}{{"&quot;", '"'}, {"&#34;", '"'}, {"&#39;", '\''}, {"&apos;", '\''}, {"&amp;", '&'}, {"&#x27;", '\''}, {"&#x3D;", '='}, {"&#61;", '='}} {
			if strings.HasPrefix(s, e.name) {
				return e.c, len(e.name)
			}
		}
	default:
		return wide(s)
	}
	return 0, 0
}

// wide decodes characters of several bytes: zero-width ones and the full-width
// colon and equals sign.
func wide(s string) (byte, int) {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x2064 || r == 0xfeff || r == 0xad:
		return 0, n
	case r == 0xff1a:
		return ':', n
	case r == 0xff1d:
		return '=', n
	}
	return 0, 0
}

// escapeSequence returns the length of the terminal sequence at the start of s.
func escapeSequence(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return 1
	}
	i := 2
	for i < min(len(s), maxGap*2) && (s[i] < '@' || s[i] > '~') {
		i++
	}
	return min(i+1, len(s))
}

func hexByte(s string) byte {
	digit := func(c byte) byte {
		if text.IsDigit(c) {
			return c - '0'
		}
		return c | 0x20 - 'a' + 10
	}
	return digit(s[0])<<4 | digit(s[1])
}

// original converts findings in the view to findings in the original text.
func (v view) original(found []finding) []finding {
	for i, f := range found {
		found[i].start = int(v.offsets[f.start])
		found[i].end = int(v.offsets[f.end])
	}
	return found
}
