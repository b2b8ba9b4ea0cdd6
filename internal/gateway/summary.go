package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"strandline/internal/app"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// Parts of the summary prompt of Claude Code 2.1.329. The prompt is the last text
// of the conversation; it starts with summaryLead and contains summaryTask. The
// user's instructions are between summaryInstructions and summaryEnd.
const (
	summaryLead         = "CRITICAL: Respond with TEXT ONLY"
	summaryTask         = "create a detailed summary of the conversation"
	summaryInstructions = "Additional Instructions:"
	summaryEnd          = "\nREMINDER: Do NOT call any tools"
)

// summaryPrompt returns the client's prompt for a summary, if the request ends
// with one.
func (r *request) summaryPrompt() (prompt string, ok bool) {
	last := r.messages[len(r.messages)-1]
	if last.role != roleUser || len(last.blocks) == 0 {
		return "", false
	}
	b := last.blocks[len(last.blocks)-1]
	if b.kind != blockText {
		return "", false
	}
	text := r.text(b)
	return text, strings.HasPrefix(text, summaryLead) && strings.Contains(text, summaryTask)
}

// conversation returns the messages before the summary prompt.
func (r *request) conversation(session, prompt string) app.Summarized {
	c := app.Summarized{Session: session, Model: r.model}
	if _, after, ok := strings.Cut(prompt, summaryInstructions); ok {
		if end := strings.LastIndex(after, summaryEnd); end >= 0 {
			after = after[:end]
		}
		c.Instructions = strings.TrimSpace(after)
	}
	for i := range r.messages {
		m := &r.messages[i]
		blocks := m.blocks
		if i == len(r.messages)-1 {
			blocks = blocks[:len(blocks)-1]
		}
		if m.role != roleUser && m.role != roleAssistant {
			continue
		}
		for _, part := range r.split(m.role, blocks) {
			c.Messages = append(c.Messages, r.message(m.role, part))
		}
	}
	return c
}

// split separates the summary of an earlier compaction from the prompt after it: the
// client sends both as blocks of one message.
func (r *request) split(role string, blocks []block) (parts [][]block) {
	from := 0
	for i, b := range blocks {
		if role == roleUser && b.kind == blockText && claude.IsSummary(r.text(b)) {
			if from < i {
				parts = append(parts, blocks[from:i])
			}
			parts = append(parts, blocks[i:i+1])
			from = i + 1
		}
	}
	if from < len(blocks) {
		parts = append(parts, blocks[from:])
	}
	return parts
}

func (r *request) message(role string, blocks []block) transcript.Message {
	m := transcript.Message{Role: role}
	for _, b := range blocks {
		switch b.kind {
		case blockText:
			if m.Text != "" {
				m.Text += "\n"
			}
			m.Text += r.text(b)
		case blockUse:
			m.Uses = append(m.Uses, claude.ToolUse(b.id, b.name, b.value.Of(r.body)))
		case blockResult:
			m.Results = append(m.Results, transcript.ToolResult{ID: b.id, Text: r.text(b), Failed: b.failed})
		}
	}
	claude.Classify(&m)
	return m
}

// summaryText returns a summary in the client's format.
func summaryText(summary string) string {
	return "<summary>\n" + strings.ReplaceAll(summary, "</summary>", "< /summary>") + "\n</summary>"
}

// endTurn is the stop reason of a complete response.
const endTurn = "end_turn"

// write sends text as the model's complete response, streamed if the request asks
// for it (https://docs.anthropic.com/en/api/messages-streaming). Its usage is zero, as
// nothing is billed.
func write(w http.ResponseWriter, r *request, id, text string) error {
	type object = map[string]any
	usage := object{"input_tokens": 0, "output_tokens": 0}
	m := object{
		"id": id, "type": "message", "role": roleAssistant, "model": r.model, "content": []object{},
		"stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}
	if !r.stream {
		m["content"], m["stop_reason"] = []object{{"type": blockText, "text": text}}, endTurn
		w.Header().Set("Content-Type", "application/json")
		return json.NewEncoder(w).Encode(m)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	for _, e := range []object{
		{"type": "message_start", "message": m},
		{"type": "content_block_start", "index": 0, "content_block": object{"type": blockText, "text": ""}},
		{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": text}},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": object{"stop_reason": endTurn, "stop_sequence": nil}, "usage": usage},
		{"type": "message_stop"},
	} {
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], data); err != nil {
			return err
		}
	}
	return nil
}
