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
	last := -1 // end of an escaped character
	for at := 0; at < len(s); {
		c, n := byte(0), 0
		if s[at] >= ' ' && s[at] < 0x80 && s[at] != '%' && s[at] != '&' && s[at] != '\\' {
			put(s[at], at)
			at++
			continue
		}
		if k := escapeChain(s, at, last); k > 0 {
			put(hexByte(s[at+k-2:at+k]), at)
			at += k
			last = at
			continue
		}
		if s[at] == 0x1b || s[at] >= 0x80 || s[at] == '%' || s[at] == '&' || s[at] == '\\' || s[at] == 0 {
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
	for _, lit := range []string{"\u200b"[:2], "\ufeff", "\u00ad", "%3", "%2", "\x00", "%6", "%7", `\u00`, `\x`, "&quot;", "&#", "&amp;", "\uff1a", "\uff1d"} {
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
	case 0: // between two bytes of UTF-16
		if len(s) == 2 || len(s) > 2 && s[2] == 0 && s[1] != 0 {
			return 0, 1
		}
	case 0x1b:
		return 0, escapeSequence(s)
	case '%':
		if len(s) > 2 && (s[1] == '3' && strings.IndexByte("aAdD", s[2]) >= 0 || s[1] == '2' && strings.IndexByte("0267bBdDeEfF", s[2]) >= 0) {
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

// escapeChain returns the length of an escape such as %67, \\x67 or \\u0067 at offset at
// for a printable character if another escape follows or, at offset last, precedes
// it. A text with only one may be a format.
func escapeChain(s string, at, last int) int {
	for _, mark := range [...]string{"%", `\x`, `\u00`} {
		n := len(mark) + 2
		if s[at] != mark[0] || len(s) < at+n || !strings.HasPrefix(s[at:], mark) || !isHex(s[at+n-2]|0x20) || !isHex(s[at+n-1]|0x20) {
			continue
		}
		if c := hexByte(s[at+n-2 : at+n]); c > ' ' && c < 0x7f && (last == at || strings.HasPrefix(s[at+n:], mark)) {
			return n
		}
	}
	return 0
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
