package mockapi

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// answer is a streamed reply with its ids.
type answer struct {
	id      string
	model   string
	reply   Reply
	toolIDs []string
}

func (a answer) blocks() []block {
	var blocks []block
	if a.reply.thinking != "" {
		blocks = append(blocks, block{Type: "thinking", Thinking: a.reply.thinking, Signature: "c2lnbmF0dXJl"})
	}
	if a.reply.text != "" {
		blocks = append(blocks, block{Type: "text", Text: a.reply.text})
	}
	for i, tool := range a.reply.tools {
		input, err := json.Marshal(tool.Input)
		if err != nil {
			panic(fmt.Sprintf("mockapi: input of tool %s: %v", tool.Name, err))
		}
		blocks = append(blocks, block{Type: "tool_use", ID: a.toolIDs[i], Name: tool.Name, Input: input})
	}
	return blocks
}

type wireAnswer struct {
	ID           string  `json:"id"`
	Type         string  `json:"type"`
	Role         string  `json:"role"`
	Model        string  `json:"model"`
	Content      []block `json:"content"`
	StopReason   *string `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
	Usage        usage   `json:"usage"`
}

// message is the whole answer, for a client that wants no stream.
func (a answer) message() wireAnswer {
	m := a.head()
	stop := a.reply.stopReason()
	m.Content, m.StopReason = a.blocks(), &stop
	return m
}

func (a answer) head() wireAnswer {
	return wireAnswer{
		ID: a.id, Type: "message", Role: "assistant", Model: a.model,
		Content: []block{}, Usage: a.reply.usage(),
	}
}

// writeStream sends the answer as server-sent events, each block in one delta.
func writeStream(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	send := func(event string, v map[string]any) {
		v["type"] = event
		data, err := json.Marshal(v)
		if err != nil {
			panic(fmt.Sprintf("mockapi: event %s: %v", event, err))
		}
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data) // a client may hang up
	}
	send("message_start", map[string]any{"message": a.head()})
	for i, b := range a.blocks() {
		start, deltas := b.streamed()
		send("content_block_start", map[string]any{"index": i, "content_block": start})
		for _, d := range deltas {
			send("content_block_delta", map[string]any{"index": i, "delta": d})
		}
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": a.reply.stopReason(), "stop_sequence": nil},
		"usage": a.reply.usage(),
	})
	send("message_stop", map[string]any{})
}

// streamed splits a block into its empty start and the deltas that fill it.
func (b block) streamed() (start map[string]any, deltas []map[string]any) {
	switch b.Type {
	case "thinking":
		return map[string]any{"type": b.Type, "thinking": "", "signature": ""}, []map[string]any{
			{"type": "thinking_delta", "thinking": b.Thinking},
			{"type": "signature_delta", "signature": b.Signature},
		}
	case "tool_use":
		return map[string]any{"type": b.Type, "id": b.ID, "name": b.Name, "input": map[string]any{}}, []map[string]any{
			{"type": "input_json_delta", "partial_json": string(b.Input)},
		}
	}
	return map[string]any{"type": b.Type, "text": ""}, []map[string]any{{"type": "text_delta", "text": b.Text}}
}
