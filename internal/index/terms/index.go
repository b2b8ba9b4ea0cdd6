package terms

import (
	"strings"
	"unicode/utf8"
)

// Index returns the normalised terms of text, separated by single spaces, in the order
// of the text and with repetitions. The whole of a compound comes before its parts.
func Index(text string) string { return string(AppendTo(nil, text)) }

// AppendTo appends the terms of text to dst, separated from each other and from the
// previous content by single spaces.
func AppendTo(dst []byte, text string) []byte {
	s := scanner{text: text}
	for s.next() {
		dst = s.appendTerms(dst)
	}
	return dst
}

// scanner iterates over the compounds of a text.
type scanner struct {
	text string
	// The compound is text[start:end].
	start, end int
	kind       runKind
	checked    int // up to here, text was checked for garbage
}

type runKind int

const (
	runASCII   runKind = iota // letters, digits and joiners in ASCII
	runUnicode                // with other letters as well
	runCJK
	runGarbage
)

// next advances to the next compound and reports whether there is one.
func (s *scanner) next() bool {
	i := s.end
	for i < len(s.text) {
		switch class(s.text[i]) {
		case classOther:
			i++
			continue
		case classRune:
			r, n := utf8.DecodeRuneInString(s.text[i:])
			if isCJK(r) {
				s.start, s.kind = i, runCJK
				s.end = s.cjkEnd(i + n)
				return true
			}
			if !isWordRune(r) {
				i += n
				continue
			}
		}
		s.start = i
		if i >= s.checked {
			var garbage bool
			if s.checked, garbage = unstructured(s.text, i); garbage {
				s.end, s.kind = s.checked, runGarbage
				return true
			}
		}
		s.compound(i)
		return true
	}
	s.end = i
	return false
}

// compound sets the end and the kind of the compound: words joined by single dots,
// single dashes or any number of underscores.
func (s *scanner) compound(i int) {
	s.kind = runASCII
	t := s.text
	for i < len(t) {
		c := t[i]
		switch class(c) {
		case classLower, classUpper, classDigit:
			i++
			continue
		case classRune:
			r, n := utf8.DecodeRuneInString(t[i:])
			if isWordRune(r) && !isCJK(r) {
				s.kind = runUnicode
				i += n
				continue
			}
		default:
			j := i + 1
			if c == '_' {
				for j < len(t) && t[j] == '_' {
					j++
				}
			}
			if (c == '_' || c == '-' || c == '.') && j < len(t) && startsWord(t[j:]) {
				i = j
				continue
			}
		}
		break
	}
	s.end = i
}

func startsWord(t string) bool {
	r, _ := utf8.DecodeRuneInString(t)
	return isWordRune(r) && !isCJK(r)
}

func (s *scanner) cjkEnd(i int) int {
	if n := strings.IndexFunc(s.text[i:], func(r rune) bool { return !isCJK(r) }); n >= 0 {
		return i + n
	}
	return len(s.text)
}

// unstructured returns the end of the run of base64 characters that starts at i, and
// whether it is garbage: long, with too many changes of character class for words.
func unstructured(t string, i int) (end int, garbage bool) {
	changes, last := 0, classOther
	end = i
	for end < len(t) {
		c := t[end]
		k := class(c)
		if k == classRune || k == classOther && c != '+' && c != '/' && c != '=' && c != '-' && c != '_' {
			break
		}
		if k != last && k != classOther && last != classOther {
			changes++
		}
		last = k
		end++
	}
	n := end - i
	return end, n > garbageLen && changes > n/2
}

// appendTerms appends the terms of the current run.
func (s *scanner) appendTerms(dst []byte) []byte {
	run := s.text[s.start:s.end]
	switch s.kind {
	case runASCII:
		return appendCompound(dst, run)
	case runUnicode:
		folded := make([]byte, 0, 2*MaxTerm)
		for _, r := range run {
			folded = appendFolded(folded, r)
		}
		return appendCompound(dst, string(folded))
	case runCJK:
		return appendPairs(dst, run)
	}
	return appendGarbage(separate(dst), run)
}

// appendGarbage appends the first letters and digits of an unstructured run.
func appendGarbage(dst []byte, run string) []byte {
	for i, kept := 0, 0; i < len(run) && kept < garbageKeep; i++ {
		if class(run[i]) != classOther {
			dst = appendLower(dst, run[i:i+1])
			kept++
		}
	}
	return dst
}

// appendPairs appends the overlapping pairs of characters of a CJK run, then its last
// character. Every character starts a term, so that a prefix query finds it at any
// position.
func appendPairs(dst []byte, run string) []byte {
	for {
		_, n := utf8.DecodeRuneInString(run)
		if n == len(run) {
			return append(separate(dst), run...)
		}
		_, m := utf8.DecodeRuneInString(run[n:])
		dst = append(separate(dst), run[:n+m]...)
		run = run[n:]
	}
}

func separate(dst []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, ' ')
	}
	return dst
}
