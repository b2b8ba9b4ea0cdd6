package recall

import (
	"strings"
	"unicode"
)

// PromptWords are what a prompt tells by itself, before anything is looked up.
type PromptWords struct {
	// Names are what only a few passages can hold: files, paths, identifiers,
	// hashes, numbers of issues. Each once, as it was typed, without the number
	// of a line.
	Names []string
	// Words counts all words of the prompt.
	Words int
}

// ReadPrompt finds the clues in a prompt.
func ReadPrompt(prompt string) PromptWords {
	var c PromptWords
	seen := map[string]bool{}
	for _, field := range strings.FieldsFunc(prompt, betweenWords) {
		word := strings.Trim(field, ".,:;!?*_~+=…-–—'’&|\\/$%^")
		if word == "" {
			continue
		}
		c.Words++
		word = withoutLine(word)
		if isNamed(word) && !seen[word] {
			seen[word] = true
			c.Names = append(c.Names, word)
		}
	}
	return c
}

// betweenWords reports what separates the words of a prompt; what names are made
// of does not.
func betweenWords(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("`\"()[]{}<>“”", r)
}

// withoutLine cuts the place in a file off its name: store.go:41, store.go:41-50.
func withoutLine(w string) string {
	at := strings.IndexByte(w, ':')
	if at > 0 && at+1 < len(w) && isDigit(w[at+1]) {
		return w[:at]
	}
	return w
}

// isNamed reports that a word is one of those that Names lists.
func isNamed(w string) bool {
	if len(w) < 3 || len(w) > 120 || strings.Contains(w, "://") || strings.HasPrefix(w, "www.") {
		return false
	}
	switch {
	case isFile(w), isCodeName(w), isHash(w), isIssue(w):
		return true
	}
	return strings.Count(w, "/") >= 2 && !strings.ContainsAny(w, ",;")
}

// isFile reports a file's name: something, a dot, and an ending of letters.
func isFile(w string) bool {
	at := strings.LastIndexByte(w, '.')
	if at < 2 || len(w)-at < 2 || len(w)-at > 6 {
		return false
	}
	for _, r := range w[at+1:] {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return false
		}
	}
	last := w[at-1]
	ending := w[at+1:]
	return isLetter(ending[0]) && (isLetter(last) || isDigit(last)) && ending != "com" && ending != "org" && ending != "io"
}

// isCodeName reports a name as programs have them: humps, underscores, colons.
func isCodeName(w string) bool {
	if strings.Contains(w, "::") {
		return true
	}
	humps, scores, letters := 0, 0, 0
	for i := range len(w) {
		switch {
		case isLetter(w[i]):
			letters++
			if i > 0 && isUpper(w[i]) && isLower(w[i-1]) {
				humps++
			}
		case w[i] == '_' && i > 0 && i < len(w)-1:
			scores++
		}
	}
	return letters >= 4 && (humps >= 1 || scores >= 1)
}

// isHash reports an abbreviated commit or a uuid.
func isHash(w string) bool {
	digits, letters := 0, 0
	for i := range len(w) {
		switch {
		case isDigit(w[i]):
			digits++
		case 'a' <= w[i] && w[i] <= 'f':
			letters++
		case w[i] == '-' && len(w) >= 32:
		default:
			return false
		}
	}
	return len(w) >= 7 && digits > 0 && letters > 0
}

// isIssue reports the number of an issue: #123, ENT-221.
func isIssue(w string) bool {
	head, tail, dash := strings.Cut(w, "-")
	if strings.HasPrefix(w, "#") {
		head, tail, dash = "NO", w[1:], true
	}
	if !dash || len(head) < 2 || len(tail) < 2 || len(tail) > 7 {
		return false
	}
	for i := range len(head) {
		if !isUpper(head[i]) {
			return false
		}
	}
	for i := range len(tail) {
		if !isDigit(tail[i]) {
			return false
		}
	}
	return true
}

func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
func isLetter(c byte) bool { return isUpper(c) || isLower(c) }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
