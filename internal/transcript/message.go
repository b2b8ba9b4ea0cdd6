package transcript

import "strandline/internal/archive"

// Message is one message of a conversation as the client hands it to a plugin:
// one row of its transcript, so an API response may be several of them.
type Message struct {
	Role    string // "user" or "assistant"
	Text    string // of all text blocks
	Uses    []ToolUse
	Results []ToolResult
	// Prompt is what a person said in a user's message, cleaned; empty for what
	// the client wrote in the user's name.
	Prompt string
	// Summary marks the client's own summary of an earlier compaction.
	Summary bool
}

// ToolUse is a call of a tool. Beside the client's own form it says what the
// call does, as far as that is known of the tool.
type ToolUse struct {
	ID    string
	Name  string
	Input []byte // JSON

	Kind    archive.CallKind
	Path    string // of the file that is read or changed
	Command string // of a shell
	Brief   string // what was asked, in one line
	Line    int    // first line that is read, from 1; 0: all of the file
	Content string // what a file is given as a whole
	Whole   bool   // the file holds Content afterwards
	Changes []Change
}

// Change replaces a text in a file.
type Change struct {
	Old, New string
	All      bool // wherever Old stands, else the first time
}

// ToolResult is what a tool answered.
type ToolResult struct {
	ID     string
	Text   string
	Failed bool
}
