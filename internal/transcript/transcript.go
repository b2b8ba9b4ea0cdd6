// Package transcript defines the interface of the readers of clients' transcripts.
// Each client's reader is in a sub-package.
package transcript

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Lookup returns where identities were first seen, in any session. Unknown
// identities are absent from the result.
type Lookup func(ctx context.Context, keys []uint64) (map[uint64]archive.Ref, error)

// Owns reports whether Strandline injected a record into the context of a session. It
// decides by the record's signature or the journal, never by its words.
type Owns func(session string, r text.Record) bool

// Reader folds a transcript into rows of the archive, piece by piece. Reading in
// pieces gives the same rows as reading the whole file.
type Reader interface {
	// Read reads the complete lines after those read before (chunk ends with a
	// newline) and returns the changed rows. A new reader continues at the cursor
	// of the batch.
	Read(ctx context.Context, chunk []byte, lookup Lookup) (archive.Batch, error)
}

// Row identifies one line of a transcript, without its content.
type Row struct {
	Line           int
	UUID           string
	Parent         string
	MessageID      string    // of the API response that the row is part of
	Time           time.Time // zero if missing
	Uses           []string  // ids of the row's tool calls
	Results        []string  // ids of the calls whose results the row holds
	Prompt         bool      // a prompt, which starts a turn
	InConversation bool      // part of the conversation, not state of the client
	Boundary       bool      // the context was compacted here
	Blank          bool      // white space, or the replacement of a forgotten turn or step
}

// Facts are the facts about a session in the first rows of its transcript. Missing
// ones are zero.
type Facts struct {
	Session string // the client's session id; the parent's in a sub-agent's file
	Agent   string // the sub-agent's id, empty in a main transcript
	Cwd     string
	First   time.Time // of the first row with a time, UTC
}

// Message is one message of a conversation as the client passes it to a plugin:
// one row of its transcript, so an API response may be several messages.
type Message struct {
	Role    string // "user" or "assistant"
	Text    string // of all text blocks
	Uses    []ToolUse
	Results []ToolResult
	// Prompt is the user's text in a user message, cleaned. It is empty for text of
	// the client.
	Prompt string
	// Expansion is the text that the client sent in place of a slash command, "" for
	// other prompts.
	Expansion string
	// Summary marks the client's summary of an earlier compaction.
	Summary bool
	// Record is Strandline's replacement of an earlier part of the conversation, if the
	// message is one.
	Record string
}

// EachText applies change to every text of the message that is printed. It keeps the
// input of a tool call valid JSON.
func (m *Message) EachText(change func(string) string) {
	for _, s := range []*string{&m.Text, &m.Prompt, &m.Expansion, &m.Record} {
		*s = change(*s)
	}
	m.Uses, m.Results = slices.Clone(m.Uses), slices.Clone(m.Results)
	for i := range m.Uses {
		u := &m.Uses[i]
		u.Name = change(u.Name)
		switch input := json.RawMessage(change(string(u.Input))); {
		case json.Valid(input):
			u.Input = input
		case json.Valid(u.Input):
			u.Input, _ = json.Marshal(change(string(u.Input))) // a string is always valid
		}
	}
	for i := range m.Results {
		m.Results[i].Text = change(m.Results[i].Text)
	}
}

// ToolUse is a tool call: the client's fields, and those derived from the known input of
// the tool.
type ToolUse struct {
	ID    string          `json:"tool_use_id"`
	Name  string          `json:"tool"`
	Input json.RawMessage `json:"input"`

	Kind    archive.CallKind `json:"-"`
	Path    string           `json:"-"` // of the file that is read or changed
	Command string           `json:"-"` // of a shell
	Brief   string           `json:"-"` // the input in one line
	Line    int              `json:"-"` // first line that is read, from 1; 0: the whole file
	Content string           `json:"-"` // new content of a file
	Whole   bool             `json:"-"` // Content is the file's whole content
	Changes []Change         `json:"-"`
}

// Change is a replacement of text in a file.
type Change struct {
	Old, New string
	All      bool // replace all occurrences, not only the first
}

// ToolResult is the result of a tool call.
type ToolResult struct {
	ID     string `json:"tool_use_id"`
	Text   string `json:"text"`
	Failed bool   `json:"isError"`
}
