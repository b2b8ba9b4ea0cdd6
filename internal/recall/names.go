package recall

import (
	"slices"
	"strings"
	"unicode"

	"strandline/internal/text"
)

// PromptWords are the words of a prompt.
type PromptWords struct {
	// Names are words that few passages contain: files, paths, identifiers, hashes, issue
	// numbers. Each is listed once, as typed, without a line number.
	Names []string
	// Words is the number of all words.
	Words int
}

// ReadPrompt finds the names in a prompt.
func ReadPrompt(prompt string) PromptWords {
	var p PromptWords
	separates := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("`\"()[]{}<>“”", r) }
	for field := range strings.FieldsFuncSeq(prompt, separates) {
		word := strings.Trim(field, ".,:;!?*_~+=…-–—'’&|\\/$%^")
		if word == "" {
			continue
		}
		p.Words++
		if word = withoutLine(word); isName(word) && !slices.Contains(p.Names, word) {
			p.Names = append(p.Names, word)
		}
	}
	return p
}

// withoutLine removes the line from a place in a file: store.go:41, store.go:41-50.
func withoutLine(w string) string {
	if at := strings.IndexByte(w, ':'); at > 0 && at+1 < len(w) && text.IsDigit(w[at+1]) {
		return w[:at]
	}
	return w
}

// isName reports whether a word is a name as described at PromptWords.
func isName(w string) bool {
	if len(w) < 3 || len(w) > 120 || strings.Contains(w, "://") || strings.HasPrefix(w, "www.") {
		return false
	}
	return isFileName(w) || isIdentifier(w) || isHash(w) || isIssue(w) ||
		strings.Count(w, "/") >= 2 && !strings.ContainsAny(w, ",;")
}

// isFileName reports whether w is a name with an extension of 1 to 5 lower-case
// letters and digits.
func isFileName(w string) bool {
	at := strings.LastIndexByte(w, '.')
	if at < 2 || len(w)-at < 2 || len(w)-at > 6 {
		return false
	}
	ext := w[at+1:]
	return strings.Trim(ext, "abcdefghijklmnopqrstuvwxyz"+digits) == "" && text.IsLetter(ext[0]) && text.IsAlnum(w[at-1]) && ext != "com" && ext != "org" && ext != "io"
}

// isIdentifier reports whether w is a camelCase, snake_case or qualified::name.
func isIdentifier(w string) bool {
	if strings.Contains(w, "::") {
		return true
	}
	compound, letters := strings.Contains(w[1:len(w)-1], "_"), 0
	for i := range len(w) {
		if text.IsLetter(w[i]) {
			letters++
			compound = compound || i > 0 && text.IsUpper(w[i]) && text.IsLower(w[i-1])
		}
	}
	return letters >= 4 && compound
}

// isHash reports whether w is an abbreviated commit or a UUID.
func isHash(w string) bool {
	hex := w
	if len(w) >= 32 {
		hex = strings.ReplaceAll(w, "-", "")
	}
	return len(w) >= 7 && strings.Trim(hex, digits+"abcdef") == "" && strings.ContainsAny(hex, digits) && strings.ContainsAny(hex, "abcdef")
}

const digits = "0123456789"

// isIssue reports whether w is an issue number: #123, ENT-221.
func isIssue(w string) bool {
	head, tail, ok := strings.Cut(w, "-")
	if number, hash := strings.CutPrefix(w, "#"); hash {
		head, tail, ok = "NO", number, true
	}
	return ok && len(head) >= 2 && len(tail) >= 2 && len(tail) <= 7 &&
		strings.Trim(head, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && strings.Trim(tail, digits) == ""
}
