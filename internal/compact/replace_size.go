package compact

import (
	"strings"

	"strandline/internal/text"
	"strandline/internal/transcript"
)

// rowTokens is what a message takes beside its content.
const rowTokens = 6

// tokens estimates the tokens of a text.
func tokens(s string) int { return text.Tokens(s) }

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
	head := text.TokenPrefix(s, n)
	if head == s {
		return s, false
	}
	if at := strings.LastIndexByte(head, '\n'); at > len(head)*3/4 {
		head = head[:at]
	}
	return head, true
}
