package terms

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// appendCompound appends the terms of one compound: the whole first, then its parts.
// Characters of c outside ASCII are folded already.
func appendCompound(dst []byte, c string) []byte {
	switch {
	case c == "":
		return dst
	case isHash(c):
		return appendWhole(dst, c)
	case isPlain(c):
		return appendPart(dst, c)
	}
	if len(c) > 1 && (c[0] == 'v' || c[0] == 'V') && class(c[1]) == classDigit && strings.IndexByte(c, '.') > 0 {
		c = c[1:] // v1.2 is the version 1.2
	}
	dst = appendWhole(dst, c)
	for rest, more := c, true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, ".")
		if len(segment) < len(c) && strings.ContainsAny(segment, "-_") {
			dst = appendWhole(dst, segment)
		}
		for word := range strings.FieldsFuncSeq(segment, func(r rune) bool { return r == '-' || r == '_' }) {
			dst = appendWord(dst, word, len(word) == len(c))
		}
	}
	return dst
}

// appendWord appends a word of a compound and its parts. whole means that the word is
// the whole compound, which was appended already. Words of one byte are left out.
func appendWord(dst []byte, word string, whole bool) []byte {
	switch {
	case len(word) == 1:
		return dst
	case isPlain(word):
		return appendPart(dst, word)
	case !whole:
		dst = appendWhole(dst, word)
	}
	if isHash(word) {
		return dst
	}
	return appendParts(dst, word)
}

// isPlain reports whether c has no parts: one word in lower case, in capitals or with
// an initial capital, or one number.
func isPlain(c string) bool {
	first := class(c[0])
	last := first
	for i := 1; i < len(c); i++ {
		k := class(c[i])
		switch {
		case k == classOther:
			return false
		case k == last:
		case i == 1 && first == classUpper && k != classDigit:
		case (k == classLower || k == classRune) && (last == classLower || last == classRune):
		default:
			return false
		}
		last = k
	}
	return true
}

// isHash reports whether c is an abbreviated or full hash or a UUID. A hash has digits,
// unlike a word such as "defaced", and letters, unlike a number.
func isHash(c string) bool {
	if len(c) < minHash {
		return false
	}
	digits, letters, dashes := 0, 0, 0
	for i := range len(c) {
		switch b := c[i]; {
		case b == '-':
			dashes++
		case (b < '0' || b > '9') && (b|0x20 < 'a' || b|0x20 > 'f'):
			return false
		case b <= '9':
			digits++
		default:
			letters++
		}
	}
	if dashes > 0 {
		return len(c) == 36 && dashes == 4 && c[8] == '-' && c[13] == '-' && c[18] == '-' && c[23] == '-'
	}
	return digits > 0 && letters > 0
}

// appendParts appends the parts of a word, which end before capitals and between letters
// and digits. Parts of one byte are left out.
func appendParts(dst []byte, word string) []byte {
	for i := 0; i < len(word); {
		j := i + 1
		for j < len(word) && !partEnds(word, j) {
			j++
		}
		if j-i > 1 {
			dst = appendPart(dst, word[i:j])
		}
		i = j
	}
	return dst
}

// partEnds reports whether a part ends before s[j], with j > 0.
func partEnds(s string, j int) bool {
	k, before := class(s[j]), class(s[j-1])
	switch {
	case k == before:
		// In "HTTPServer" the part ends before the capital that a small letter follows.
		return k == classUpper && j+1 < len(s) && class(s[j+1]) == classLower
	case k == classDigit || before == classDigit:
		return true
	}
	return k == classUpper
}

// appendPart appends one word in lower case, in the singular and clipped.
func appendPart(dst []byte, word string) []byte {
	dst = separate(dst)
	at := len(dst)
	dst = appendLower(dst, word)
	return clip(singular(dst, at), at)
}

// appendWhole appends a compound in lower case without dashes and underscores,
// so that all spellings of a name are one term.
func appendWhole(dst []byte, c string) []byte {
	dst = separate(dst)
	at := len(dst)
	for i := range len(c) {
		if c[i] != '-' && c[i] != '_' {
			dst = append(dst, lower(c[i]))
		}
	}
	return clip(dst, at)
}

func appendLower(dst []byte, s string) []byte {
	for i := range len(s) {
		dst = append(dst, lower(s[i]))
	}
	return dst
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	return b
}

// clip shortens the term that starts at dst[at] to MaxTerm bytes, at a rune boundary.
func clip(dst []byte, at int) []byte {
	n := at + MaxTerm
	if len(dst) <= n {
		return dst
	}
	for n > at && !utf8.RuneStart(dst[n]) {
		n--
	}
	return dst[:n]
}

// singular replaces the English plural at dst[at:] by its singular. Other words stay,
// including those that only look like a plural: "status", "class".
//
// Except for words in "ies" the result is a prefix of the word. A prefix query that is
// folded in the same way therefore finds no less.
func singular(dst []byte, at int) []byte {
	w := dst[at:]
	n := len(w)
	if n < 4 || w[n-1] != 's' || w[n-2] == 's' || w[n-2] == 'u' {
		return dst
	}
	switch {
	case n > 4 && bytes.HasSuffix(w, []byte("ies")):
		dst[at+n-3] = 'y'
		return dst[:at+n-2]
	case pluralInES(w[:n-2]) && w[n-2] == 'e':
		return dst[:at+n-2]
	}
	return dst[:at+n-1]
}

// pluralInES reports whether a word takes "es" in the plural. "ach" does not: "caches"
// is the plural of "cache".
func pluralInES(w []byte) bool {
	n := len(w)
	switch w[n-1] {
	case 'x':
		return n > 2
	case 's':
		return w[n-2] == 's'
	case 'h':
		return (w[n-2] == 'c' || w[n-2] == 's') && !bytes.HasSuffix(w, []byte("ach"))
	}
	return false
}
