package app

import (
	"strandline/internal/compact"
	"strandline/internal/text"
)

// Context is what a compaction gets, for scripts.
type Context struct {
	Session string   `json:"session"`
	Chars   int      `json:"chars"`
	Text    string   `json:"text"`
	Handles []string `json:"handles"`
	LeftOut int      `json:"left_out"`
}

// NewContext is a block as a compaction gets it.
func NewContext(session string, b compact.Block) Context {
	return Context{Session: session, Chars: text.Units(b.Text), Text: b.Text, Handles: append([]string{}, b.Handles...), LeftOut: b.Left}
}
