package claude

import (
	"cmp"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/transcript"
)

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

// Block is one piece of a transcript line's content, for display.
type Block struct {
	Line   int       `json:"line"`              // 0-based line of the transcript
	Kind   string    `json:"kind"`              // one of the Block constants
	Name   string    `json:"name,omitempty"`    // of the tool, or the type of the row, attachment or unknown block
	ToolID string    `json:"tool_id,omitempty"` // the client's tool_use id
	Time   time.Time `json:"time"`
	Error  bool      `json:"error,omitempty"` // a failed tool result, or an API error
	Own    bool      `json:"own,omitempty"`   // injected by Strandline
	Text   string    `json:"text"`            // in full, not redacted
	// Diff holds Changes in unified form, Added and Removed the number of its lines. A
	// BlockReader leaves them empty.
	Diff    string `json:"diff,omitempty"`
	Added   int    `json:"added,omitempty"`
	Removed int    `json:"removed,omitempty"`

	// Path and Changes are set for a call that edits a file. A file that is written whole
	// is one change without old text.
	Path    string              `json:"-"`
	Changes []transcript.Change `json:"-"`
}

// Conversation reports whether a block is part of the conversation: neither an
// attachment nor inserted by Strandline, and not empty.
func (b Block) Conversation() bool {
	return !b.Own && b.Kind != BlockAttachment && b.Kind != BlockOther && strings.TrimSpace(b.Text) != ""
}

// Heading returns the block's kind and name.
func (b Block) Heading() string {
	head := strings.TrimSpace(b.Kind + " " + b.Name)
	if b.Error {
		head += " (error)"
	}
	return head
}

// BlockReader reads the content of transcript lines for display.
type BlockReader struct {
	// Owns recognizes Strandline's records; nil recognizes none.
	Owns transcript.Owns

	tools map[string]string // names by id, of the calls read so far
}

// Blocks returns all content blocks of the raw lines in chunk, in full and not
// redacted. The first line has the number firstLine; a last line without a newline
// is included. Rows that hold only state of the client (progress, modes, costs,
// copies of its requests) have no blocks.
func (r *BlockReader) Blocks(chunk []byte, firstLine int) []Block {
	s := scanAll(chunk, firstLine)
	var all []Block
	if r.tools == nil {
		r.tools = map[string]string{}
	}
	for i := range s.rows {
		row := &s.rows[i]
		session := string(row.sessionID)
		replaces := s.replacement(row, session, r.Owns) != ""
		for _, b := range s.blocks(row) {
			if b.Text == "" && b.Kind != BlockToolUse && b.Kind != BlockToolResult {
				continue
			}
			switch b.Kind {
			case BlockToolUse:
				r.tools[b.ToolID] = b.Name
			case BlockToolResult:
				b.Name = r.tools[b.ToolID]
				b.Own = isRecall(b.Name) || onlyRecords(b.Text, session, r.Owns)
			case BlockAttachment:
				b.Own = holdsRecord(b.Text, session, r.Owns)
			default:
				b.Own = replaces
			}
			b.Line, b.Time = row.line, row.time
			all = append(all, b)
		}
	}
	return all
}

func (s *scanner) blocks(row *row) []Block {
	switch row.kind {
	case typeUser, typeAssistant:
		return s.messageBlocks(row)
	case typeSystem:
		return []Block{{Kind: BlockSystem, Name: row.subtype, Text: s.outputText(row.rawContent)}}
	case typeAttachment:
		body := cmp.Or(s.outputText(row.attach.prompt), s.outputText(row.attach.text))
		return []Block{{Kind: BlockAttachment, Name: row.attach.kind, Text: body}}
	case typeQueue:
		return []Block{{Kind: BlockOther, Name: row.kind, Text: stringOf(row.rawContent)}}
	case typeMalformed:
		return []Block{{Kind: BlockOther, Name: row.kind, Text: strings.ToValidUTF8(string(row.rawContent), "\uFFFD")}}
	}
	return nil
}

func (s *scanner) messageBlocks(row *row) (blocks []Block) {
	textKind := BlockReply
	if row.kind == typeUser {
		switch class, _ := s.classifyUser(row); class {
		case classPrompt, classComment:
			textKind = BlockPrompt
		case classSummary:
			textKind = BlockSummary
		default:
			textKind = BlockSystem
		}
	}
	for _, p := range s.partsOf(row) {
		b := Block{ToolID: string(p.id), Error: row.apiError || p.isError}
		switch p.kind {
		case partText:
			b.Kind, b.Text = textKind, stringOf(p.raw)
			if textKind == BlockPrompt && strings.HasPrefix(b.Text, tagCommandMessage) {
				b.Text = slashCommand(b.Text)
			}
		case partThinking:
			b.Kind, b.Text = BlockThinking, stringOf(p.raw)
		case partToolUse:
			b.Kind, b.Name, b.Text = BlockToolUse, string(p.name), s.render(p.raw)
			if u := s.toolUse("", b.Name, p.raw); u.Kind == archive.CallEdit {
				if b.Path, b.Changes = u.Path, u.Changes; u.Whole {
					b.Changes = []transcript.Change{{New: u.Content}}
				}
			}
		case partToolResult:
			b.Kind, b.Text = BlockToolResult, s.outputText(p.raw)
		default:
			b.Kind, b.Name, b.Text = BlockOther, string(p.name), cmp.Or(stringOf(p.raw), describeBlock(string(p.name)))
		}
		blocks = append(blocks, b)
	}
	return blocks
}
