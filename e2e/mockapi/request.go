package mockapi

import (
	"encoding/json"
	"slices"
	"strings"
)

// Kind is the purpose of a request.
type Kind string

// The kinds of request that the client sends.
const (
	Turn       Kind = "turn"       // an answer in a conversation
	Compaction Kind = "compaction" // a summary of the conversation
	Count      Kind = "count"      // a token count
	Unknown    Kind = "unknown"    // anything else: the test fails
)

// Request is one request of the client.
type Request struct {
	Kind     Kind
	Prompt   string // prompt of the rule that answered, "" if none did
	Path     string
	Session  string // session id from the client's header
	Model    string
	System   string // all system text
	Messages []Message
	Body     []byte
}

// Message is one message of a request.
type Message struct {
	Role   string
	Blocks []Block
}

// holds reports whether a block's text has the part in it.
func (m Message) holds(part string) bool {
	return slices.ContainsFunc(m.Blocks, func(b Block) bool { return strings.Contains(b.Text, part) })
}

// Block is one content block of a message; Text is the text or, for a tool
// result, its text content.
type Block struct {
	Type      string
	Text      string
	ToolUseID string // of a tool result
	ID        string // of a tool call
}

// Text returns the text of all messages, one block to a paragraph.
func (r *Request) Text() string {
	var b strings.Builder
	for _, m := range r.Messages {
		for _, bl := range m.Blocks {
			b.WriteString(bl.Text)
			b.WriteString("\n\n")
		}
	}
	return b.String()
}

// ToolResults returns the ids of the tool calls whose results the request brings.
func (r *Request) ToolResults() []string {
	var ids []string
	for _, m := range r.tail() {
		for _, b := range m.Blocks {
			if b.ToolUseID != "" {
				ids = append(ids, b.ToolUseID)
			}
		}
	}
	return ids
}

// tail returns the messages after the last one of the assistant.
func (r *Request) tail() []Message {
	for i, m := range slices.Backward(r.Messages) {
		if m.Role == "assistant" {
			return r.Messages[i+1:]
		}
	}
	return r.Messages
}

type wireRequest struct {
	Model    string        `json:"model"`
	Stream   bool          `json:"stream"`
	System   content       `json:"system"`
	Messages []wireMessage `json:"messages"`
}

type wireMessage struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

type wireBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ToolUseID string          `json:"tool_use_id"`
	ID        string          `json:"id"`
	Content   content         `json:"content"`
	Input     json.RawMessage `json:"input"`
}

// content is a list of blocks, or a string, which is one text block.
type content []wireBlock

// UnmarshalJSON accepts both forms.
func (c *content) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		*c = content{{Type: "text", Text: s}}
		return nil
	}
	var blocks []wireBlock
	if err := json.Unmarshal(data, &blocks); err != nil {
		return err
	}
	*c = blocks
	return nil
}

func (c content) text() string {
	var parts []string
	for _, b := range c {
		parts = append(parts, b.text())
	}
	return strings.Join(parts, "\n")
}

func (b wireBlock) text() string {
	switch b.Type {
	case "tool_result":
		return b.Content.text()
	case "tool_use":
		return string(b.Input)
	case "thinking":
		return b.Thinking
	}
	return b.Text
}

// parse reads a request body; the second result says whether the client wants a
// stream.
func parse(path, session string, body []byte) (*Request, bool, error) {
	var w wireRequest
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, false, err
	}
	r := &Request{Path: path, Session: session, Model: w.Model, System: w.System.text(), Body: body}
	for _, m := range w.Messages {
		msg := Message{Role: m.Role}
		for _, b := range m.Content {
			msg.Blocks = append(msg.Blocks, Block{Type: b.Type, Text: b.text(), ToolUseID: b.ToolUseID, ID: b.ID})
		}
		r.Messages = append(r.Messages, msg)
	}
	r.Kind = kind(r)
	return r, w.Stream, nil
}

func kind(r *Request) Kind {
	switch {
	case strings.HasSuffix(r.Path, "/count_tokens"):
		return Count
	case !strings.HasSuffix(r.Path, "/messages"):
		return Unknown
	case asksForSummary(r):
		return Compaction
	}
	return Turn
}

// asksForSummary recognises a compaction by two phrases of Claude Code in the
// last user message, by Pi's system prompt, or by the last words of Copilot CLI.
func asksForSummary(r *Request) bool {
	if strings.HasPrefix(r.System, "You are a context summarization assistant") {
		return true
	}
	for _, m := range r.tail() {
		for _, b := range m.Blocks {
			if strings.HasSuffix(b.Text, "respond only with the summary text.") {
				return true
			}
			if b.Type == "text" && strings.Contains(b.Text, "TEXT ONLY") && strings.Contains(b.Text, "detailed summary") {
				return true
			}
		}
	}
	return false
}
