package claude

import "time"

// The kinds of Block.
const (
	BlockPrompt     = "prompt"
	BlockReply      = "reply"
	BlockThinking   = "thinking"
	BlockToolUse    = "tool_use"
	BlockToolResult = "tool_result"
	BlockSummary    = "summary"
	BlockSystem     = "system"
	BlockAttachment = "attachment"
	BlockOther      = "other"
)

// Block is one piece of content of a transcript line, for people to read.
type Block struct {
	Line   int    // 0-based line of the transcript
	Kind   string // one of the Block constants
	Name   string // tool, attachment type or row type
	ToolID string // the client's tool_use id
	Text   string // in full, not redacted
	Time   time.Time
	Error  bool // a tool result that failed, or an API error
	Own    bool // holds a block that Strandline itself put there
}

// Blocks returns every content block of the raw lines in chunk, the first of
// which is line firstLine. Nothing is cut and nothing is redacted.
func Blocks(chunk []byte, firstLine int) []Block { return nil }
