package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"strandline/internal/text"
)

// request holds the used fields of a Messages request as spans of its bytes.
type request struct {
	body     []byte
	model    string
	stream   bool
	messages []message
}

// message is one message of the conversation.
type message struct {
	role      string
	responses int // 1 for a response of the model, else 0
	size      int // of its blocks' values, in bytes of JSON
	blocks    []block
}

// block is one content block. A message whose content is a string has one of
// type text.
type block struct {
	kind   string
	id     string // of a tool call, or of the call that a result belongs to
	name   string // of the tool
	failed bool
	// value is the JSON of the block's text, of a call's input, of a result's content or of
	// a whole block of reasoning. It is empty in blocks of other types.
	value text.Span
}

// The roles and block types that are read.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	blockText     = "text"
	blockUse      = "tool_use"
	blockResult   = "tool_result"
	blockThought  = "thinking"
	blockHidden   = "redacted_thinking"
)

// parse reads a request's body. Unknown fields are skipped.
func parse(body []byte) (*request, error) {
	w := text.NewJSONReader(body)
	r := &request{body: body}
	w.Object(func(name []byte) {
		switch string(name) {
		case "model":
			r.model = w.Text()
		case "stream":
			r.stream = w.Bool()
		case "messages":
			w.Array(func() { r.messages = append(r.messages, readMessage(w, body)) })
		default:
			w.Skip()
		}
	})
	if err := w.End(); err != nil {
		return nil, fmt.Errorf("parse request: %w", err)
	}
	if len(r.messages) == 0 {
		return nil, errors.New("the request holds no messages")
	}
	return r, nil
}

func readMessage(w *text.JSONReader, body []byte) (m message) {
	w.Object(func(name []byte) {
		switch {
		case string(name) == "role":
			if m.role = w.Text(); m.role == roleAssistant {
				m.responses = 1
			}
		case string(name) == "content" && w.IsString():
			b := block{kind: blockText, value: w.Span()}
			m.blocks, m.size = append(m.blocks, b), b.value.Size()
		case string(name) == "content":
			w.Array(func() {
				b, size := readBlock(w, body)
				m.blocks, m.size = append(m.blocks, b), m.size+size
			})
		default:
			w.Skip()
		}
	})
	return m
}

// cacheControl marks the end of the prefix to cache. It moves with each request,
// so a block's size must not include it.
const cacheControl = "cache_control"

// readBlock reads a block of a body and returns the size of its values.
func readBlock(w *text.JSONReader, body []byte) (b block, size int) {
	var content, input, words text.Span
	start := w.Offset() // of the separator before the block
	w.Object(func(name []byte) {
		switch string(name) {
		case "type":
			b.kind = w.Text()
		case "id", "tool_use_id":
			b.id = w.Text()
		case "name":
			b.name = w.Text()
		case "is_error":
			b.failed = w.Bool()
		case cacheControl:
			w.Skip()
		default:
			span := w.Span()
			size += span.Size()
			switch string(name) {
			case "content":
				content = span
			case "input":
				input = span
			case "text":
				words = span
			}
		}
	})
	switch b.kind {
	case blockText:
		b.value = words
	case blockUse:
		b.value = input
	case blockResult:
		b.value = content
	case blockThought, blockHidden:
		if open := bytes.IndexByte(body[start:w.Offset()], '{'); open >= 0 {
			b.value = text.Span{From: start + open, To: w.Offset()}
		}
	}
	return b, size
}

// text returns a block's text, or the joined texts of a result's content.
func (r *request) text(b block) string {
	raw := b.value.Of(r.body)
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	var parts []string
	w := text.NewJSONReader(raw)
	w.Array(func() {
		w.Object(func(name []byte) {
			if string(name) == "text" {
				parts = append(parts, w.Text())
				return
			}
			w.Skip()
		})
	})
	return strings.Join(parts, "\n")
}
