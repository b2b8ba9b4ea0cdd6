package compact

import (
	"unicode/utf8"

	"strandline/internal/text"
	"strandline/internal/transcript"
)

// Seven bytes of ASCII are two tokens: 3.5 characters each, measured on
// sessions whose usage is known.
const (
	asciiTokens = 2
	asciiBytes  = 7
)

// rowTokens is what a message takes beside its content.
const rowTokens = 6

// tokens estimates what a text takes of a context: 3.5 characters of ASCII are
// one token, and so is each other character.
func tokens(s string) int {
	other, bytes := 0, 0
	for i := text.ASCII(s); i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		other++
		bytes += size
		i += size
	}
	return other + ((len(s)-bytes)*asciiTokens+asciiBytes-1)/asciiBytes
}

// messageTokens estimates what a message takes.
func messageTokens(m *transcript.Message) int {
	n := rowTokens + tokens(m.Text)
	for i := range m.Uses {
		n += rowTokens + tokens(m.Uses[i].Name) + tokens(string(m.Uses[i].Input))
	}
	for i := range m.Results {
		n += rowTokens + tokens(m.Results[i].Text)
	}
	return n
}

// cutTokens shortens s to about n tokens, at the end of a line where one is near.
// It reports whether anything was cut.
func cutTokens(s string, n int) (string, bool) {
	if tokens(s) <= n {
		return s, false
	}
	if n <= 0 {
		return "", true
	}
	spent, end := 0, 0 // in sevenths of a token
	for i, r := range s {
		spent += asciiTokens
		if r >= utf8.RuneSelf {
			spent += asciiBytes - asciiTokens
		}
		if spent > n*asciiBytes {
			end = i
			break
		}
	}
	head := s[:end]
	for i := len(head) - 1; i > len(head)*3/4; i-- {
		if head[i] == '\n' {
			return head[:i], true
		}
	}
	return head, true
}
