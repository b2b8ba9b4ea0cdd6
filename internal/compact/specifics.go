package compact

import "strings"

// A specific is a word that names one thing and cannot be guessed: a path, an
// identifier, a flag, a version, a hash. After a compaction a session misses
// specifics first, so they are what the worth of a line is counted in.

// minSpecific is the shortest specific in bytes; shorter ones are too common to
// tell anything.
const minSpecific = 5

// What a run of token bytes is made of. A run of lower-case letters, with or
// without a capital in front, is an ordinary word.
const (
	hasLower = 1 << iota
	hasUpper
	hasDigit
	hasDot
	hasJoint // "_"
	hasSlash
	hasDash // "-", "@" or "~", which part names
)

// classes says of each byte which of these it is, 0: of no token, as all are
// outside of ASCII.
const classes = "" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x40\x08\x20\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x00\x00\x00\x00\x00\x00" +
	"\x40\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x00\x00\x00\x00\x10" +
	"\x00\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00\x00\x00\x40\x00" +
	others + others + others + others

const others = "" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// scanSpecifics calls fn with each specific of text and returns the number of
// ordinary words of three letters or more that stand beside them. A path counts
// as its last element, so that it is the same thing under any root.
func scanSpecifics(text string, fn func(s string)) (words int) {
	for i := 0; i < len(text); {
		made := classes[text[i]]
		if made == 0 {
			i++
			continue
		}
		start := i
		made &^= hasUpper
		for i++; i < len(text); i++ {
			c := classes[text[i]]
			if c == 0 {
				break
			}
			made |= c
		}
		switch {
		case made >= hasSlash: // a path, or several names
			words += scanToken(text[start:i], fn)
		case made > hasLower:
			words += scanName(text[start:i], fn)
		case i-start >= 3:
			words++
		}
	}
	return words
}

// scanName reports a run of letters, digits, dots and underscores if it is a
// specific, and counts the ordinary words of another.
func scanName(tok string, fn func(s string)) (words int) {
	for tok != "" && tok[0] == '.' {
		tok = tok[1:]
	}
	for tok != "" && tok[len(tok)-1] == '.' {
		tok = tok[:len(tok)-1]
	}
	if isSpecific(tok) {
		fn(tok)
		return 0
	}
	return countWords(tok)
}

// scanToken reports the specifics of one run of token bytes and counts its
// ordinary words.
func scanToken(tok string, fn func(s string)) (words int) {
	if strings.HasPrefix(tok, "--") && len(tok) > 3 && isLower(tok[2]) && !strings.Contains(tok, "/") {
		if f := strings.TrimRight(tok, "-."); len(f) >= minSpecific {
			fn(f)
		}
		return 0
	}
	for tok != "" && isMark(tok[0]) {
		tok = tok[1:]
	}
	for tok != "" && isMark(tok[len(tok)-1]) {
		tok = tok[:len(tok)-1]
	}
	if len(tok) < 3 {
		return 0
	}
	if at := strings.LastIndexByte(tok, '/'); at >= 0 {
		if base := tok[at+1:]; len(base) >= minSpecific && hasLetter(base) {
			fn(base)
		} else if len(tok) >= minSpecific && hasLetter(tok) {
			fn(tok)
		}
		return 0
	}
	from := 0
	for i := range len(tok) {
		if classes[tok[i]] == hasDash {
			words += scanName(tok[from:i], fn)
			from = i + 1
		}
	}
	return words + scanName(tok[from:], fn)
}

// isMark reports whether c may stand around a name without being part of it.
func isMark(c byte) bool { return c >= '-' && c <= '/' || c == '@' || c == '~' }

// isSpecific reports whether a run of letters, digits, dots and underscores is
// an identifier that no ordinary text holds, a version or a hash.
func isSpecific(s string) bool {
	if len(s) < minSpecific {
		return false
	}
	letters, digits, dots := 0, 0, 0
	hex, lower := true, false
	for i := range len(s) {
		switch c := s[i]; classes[c] {
		case hasLower:
			letters++
			hex, lower = hex && c <= 'f', true
			continue
		case hasUpper:
			if lower {
				return true // a hump
			}
			letters++
			hex = false
		case hasDigit:
			digits++
		case hasDot:
			dots++
			hex = false
		case hasJoint:
			if letters > 0 && i+1 < len(s) {
				return true
			}
			hex = false
		}
		lower = false
	}
	switch {
	case hex && digits > 0 && letters > 0 && len(s) >= 7 && len(s) <= 40:
		return true
	case dots > 0 && letters > 1:
		return !isDigit(s[0]) && dottedName(s) || dots > 1 && digits > dots
	}
	return dots > 1 && digits > dots
}

// dottedName reports whether every part of s begins like a name.
func dottedName(s string) bool {
	for i := range len(s) {
		if s[i] == '.' && (i+1 == len(s) || s[i+1] == '.' || isDigit(s[i+1])) {
			return false
		}
	}
	return true
}

// countWords counts runs of three letters or more.
func countWords(s string) (n int) {
	run := 0
	for i := range len(s) {
		if isLetter(s[i]) {
			if run++; run == 3 {
				n++
			}
			continue
		}
		run = 0
	}
	return n
}

func hasLetter(s string) bool {
	for i := range len(s) {
		if isLetter(s[i]) {
			return true
		}
	}
	return false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isLower(c byte) bool  { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
