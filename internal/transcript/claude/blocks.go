package claude

import (
	"bytes"
	"time"
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

// Block is one piece of content of a transcript line, for people to read.
type Block struct {
	Line   int    // 0-based line of the transcript
	Kind   string // one of the Block constants
	Name   string // of the tool, or the type of the row, attachment or unknown block
	ToolID string // the client's tool_use id
	Text   string // in full, not redacted
	Time   time.Time
	Error  bool // a tool result that failed, or an API error
	Own    bool // holds a block that Strandline itself put there
}

// Blocks returns every content block of the raw lines in chunk, the first of
// which is line firstLine; a last line without a newline counts. Nothing is cut
// and nothing is redacted. Rows that hold only the client's own state (progress,
// modes, costs, copies of its requests) have no blocks.
func Blocks(chunk []byte, firstLine int) []Block {
	if n := len(chunk); n > 0 && chunk[n-1] != '\n' {
		chunk = append(bytes.Clone(chunk), '\n')
	}
	s := newScanner()
	s.scan(chunk, firstLine)
	var all []Block
	tools := map[string]string{} // names by id
	for i := range s.rows {
		row := &s.rows[i]
		for _, b := range s.blocks(row) {
			if b.Text == "" && b.Kind != BlockToolUse && b.Kind != BlockToolResult {
				continue
			}
			switch b.Kind {
			case BlockToolUse:
				tools[b.ToolID] = b.Name
			case BlockToolResult:
				b.Name = tools[b.ToolID]
			}
			b.Line, b.Time, b.Own = row.line, row.time, hasOwn(b.Text)
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
		if row.attach == nil {
			return nil
		}
		text := s.outputText(row.attach.prompt)
		if text == "" {
			text = s.outputText(row.attach.text)
		}
		return []Block{{Kind: BlockAttachment, Name: row.attach.kind, Text: text}}
	case typeQueue:
		return []Block{{Kind: BlockOther, Name: row.kind, Text: unquote(row.rawContent)}}
	case typeMalformed:
		return []Block{{Kind: BlockOther, Name: row.kind, Text: string(bytes.ToValidUTF8(row.rawContent, []byte("\uFFFD")))}}
	}
	return nil
}

func (s *scanner) messageBlocks(row *row) []Block {
	spoken := BlockReply
	if row.kind == typeUser {
		class, _ := s.classifyUser(row)
		switch class {
		case classPrompt, classAside:
			spoken = BlockPrompt
		case classSummary:
			spoken = BlockSummary
		default:
			spoken = BlockSystem
		}
	}
	var blocks []Block
	for _, p := range s.partsOf(row) {
		b := Block{ToolID: string(p.id), Error: row.apiError || p.isError}
		switch p.kind {
		case partText:
			b.Kind, b.Text = spoken, unquote(p.raw)
		case partThinking:
			b.Kind, b.Text = BlockThinking, unquote(p.raw)
		case partToolUse:
			b.Kind, b.Name, b.Text = BlockToolUse, string(p.name), s.render(p.raw)
		case partToolResult:
			b.Kind, b.Text = BlockToolResult, s.outputText(p.raw)
		case partImage:
			b.Kind, b.Name, b.Text = BlockOther, string(p.name), note(string(p.name))
		default:
			b.Kind, b.Name, b.Text = BlockOther, string(p.name), unquote(p.raw)
			if b.Text == "" {
				b.Text = note(b.Name)
			}
		}
		blocks = append(blocks, b)
	}
	return blocks
}
