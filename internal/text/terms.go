package text

import "strings"

// minTerm is the length of the shortest term in bytes. Shorter ones are too common
// to be of use.
const minTerm = 5

// Classes of token bytes. A run of lower-case letters, with or without a capital
// in front, is an ordinary word.
const (
	classLower = 1 << iota
	classUpper
	classDigit
	classDot
	classUnderscore
	classSlash
	classDash // "-", "@" or "~", which separate names
)

// byteClass maps each byte to its class; 0 is a byte outside of tokens, such as
// any that is not ASCII.
const byteClass = "" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x40\x08\x20\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x00\x00\x00\x00\x00\x00" +
	"\x40\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x00\x00\x00\x00\x10" +
	"\x00\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00\x00\x00\x40\x00" +
	noClass + noClass + noClass + noClass

const noClass = "" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// Terms calls fn with each term of s and returns the number of ordinary words of
// three letters or more. A term is a token that names one thing and cannot be
// guessed: an identifier, a flag, a version, a hash, or the last element of a path,
// which is the same in any directory.
func Terms(s string, fn func(term string)) (words int) {
	for i := 0; i < len(s); {
		class := byteClass[s[i]]
		if class == 0 {
			i++
			continue
		}
		start := i
		class &^= classUpper
		for i++; i < len(s); i++ {
			c := byteClass[s[i]]
			if c == 0 {
				break
			}
			class |= c
		}
		switch {
		case class >= classSlash: // a path, or several names
			words += scanToken(s[start:i], fn)
		case class > classLower:
			words += scanName(s[start:i], fn)
		case i-start >= 3:
			words++
		}
	}
	return words
}

// scanName calls fn with a run of letters, digits, dots and underscores if it is a
// term, and otherwise returns the number of its ordinary words.
func scanName(tok string, fn func(term string)) (words int) {
	tok = strings.Trim(tok, ".")
	if isTerm(tok) {
		fn(tok)
		return 0
	}
	return countWords(tok)
}

// scanToken is Terms for one run of token bytes.
func scanToken(tok string, fn func(term string)) (words int) {
	if strings.HasPrefix(tok, "--") && len(tok) > 3 && IsLower(tok[2]) && !strings.Contains(tok, "/") {
		if f := strings.TrimRight(tok, "-."); len(f) >= minTerm {
			fn(f)
		}
		return 0
	}
	if tok = strings.Trim(tok, "-./@~"); len(tok) < 3 { // without the punctuation around it
		return 0
	}
	if at := strings.LastIndexByte(tok, '/'); at >= 0 {
		if base := tok[at+1:]; len(base) >= minTerm && HasLetter(base) {
			fn(base)
		} else if len(tok) >= minTerm && HasLetter(tok) {
			fn(tok)
		}
		return 0
	}
	from := 0
	for i := range len(tok) {
		if byteClass[tok[i]] == classDash {
			words += scanName(tok[from:i], fn)
			from = i + 1
		}
	}
	return words + scanName(tok[from:], fn)
}

// isTerm reports whether a run of letters, digits, dots and underscores is an
// identifier, a version or a hash rather than a word.
func isTerm(s string) bool {
	if len(s) < minTerm {
		return false
	}
	letters, digits, dots := 0, 0, 0
	hex, lower := true, false
	for i := range len(s) {
		switch c := s[i]; byteClass[c] {
		case classLower:
			letters++
			hex, lower = hex && c <= 'f', true
			continue
		case classUpper:
			if lower {
				return true // camelCase
			}
			letters++
			hex = false
		case classDigit:
			digits++
		case classDot:
			dots++
			hex = false
		case classUnderscore:
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
		return !IsDigit(s[0]) && isDottedName(s) || dots > 1 && digits > dots
	}
	return dots > 1 && digits > dots
}

// isDottedName reports whether no part of s is empty or begins with a digit.
func isDottedName(s string) bool {
	for i := range len(s) {
		if s[i] == '.' && (i+1 == len(s) || s[i+1] == '.' || IsDigit(s[i+1])) {
			return false
		}
	}
	return true
}

// countWords counts runs of three letters or more.
func countWords(s string) (n int) {
	run := 0
	for i := range len(s) {
		if IsLetter(s[i]) {
			if run++; run == 3 {
				n++
			}
			continue
		}
		run = 0
	}
	return n
}
