package mockapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// The Responses API, which Codex speaks: other names in the requests and the answers,
// the same script.

// responsesPath ends the path of its requests.
const responsesPath = "/responses"

// responses reports whether the request is one of the Responses API.
func (r *Request) responses() bool { return strings.HasSuffix(r.Path, responsesPath) }

// Shell calls Codex's shell tool.
func Shell(command string) Tool {
	return Tool{Name: "exec_command", Input: map[string]any{"cmd": command}}
}

// Patch calls Codex's editing tool with the lines between the patch's begin and end.
func Patch(lines ...string) Tool {
	return Tool{Name: "apply_patch", text: "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch"}
}

// Script calls the tool of Codex's newer models, which run the other tools from JavaScript.
func Script(code string) Tool { return Tool{Name: "exec", text: code} }

// item is one element of a request's input or of an answer's output.
type item struct {
	Type    string `json:"type"`
	ID      string `json:"id,omitempty"`
	Role    string `json:"role,omitempty"`
	Content parts  `json:"content,omitempty"`
	CallID  string `json:"call_id,omitempty"`
	Name    string `json:"name,omitempty"`
	// Arguments is of a function_call, Input of a custom_tool_call, Output of their results.
	Arguments string `json:"arguments,omitempty"`
	Input     string `json:"input,omitempty"`
	Output    parts  `json:"output,omitempty"`
	Opaque    string `json:"encrypted_content,omitempty"`
}

type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// parts is a list of parts, or a string, which is one.
type parts []part

// UnmarshalJSON accepts both forms.
func (p *parts) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*p = parts{{Text: s}}
		return nil
	}
	return json.Unmarshal(data, (*[]part)(p))
}

// message returns the item in the form of a message; compacted conversations and calls
// are of the assistant.
func (i item) message() Message {
	m := Message{Role: i.Role}
	for _, p := range append(i.Content, i.Output...) {
		m.Blocks = append(m.Blocks, Block{Type: i.Type, Text: p.Text, ToolUseID: i.CallID})
	}
	switch i.Type {
	case "function_call", "custom_tool_call":
		return Message{Role: "assistant", Blocks: []Block{{Type: i.Type, ID: i.CallID, Text: i.Arguments + i.Input}}}
	case "compaction", "reasoning":
		m.Role = "assistant"
	}
	return m
}

// parseResponses reads a request's body.
func parseResponses(path, session string, body []byte) (*Request, error) {
	var w struct {
		Model        string `json:"model"`
		Instructions string `json:"instructions"`
		Input        []item `json:"input"`
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, err
	}
	r := &Request{Kind: Turn, Path: path, Session: session, Model: w.Model, System: w.Instructions, Body: body}
	for _, i := range w.Input {
		m := i.message()
		if i.Type == "compaction_trigger" || m.holds("CONTEXT CHECKPOINT COMPACTION") {
			r.Kind = Compaction
			continue // not a part of the conversation
		}
		r.Messages = append(r.Messages, m)
	}
	return r, nil
}

// output returns the answer's items. A compaction is answered in the form that the
// request asked for: text, or an item that only the provider can read.
func (a answer) output(req *Request) []item {
	if req.Kind == Compaction && strings.Contains(string(req.Body), `"compaction_trigger"`) {
		return []item{{Type: "compaction", ID: a.id, Opaque: "b3BhcXVl"}}
	}
	var items []item
	if a.reply.text != "" {
		items = append(items, item{Type: "message", ID: a.id, Role: "assistant", Content: parts{{Type: "output_text", Text: a.reply.text}}})
	}
	for i, tool := range a.reply.tools {
		call := item{Type: "custom_tool_call", ID: "item_" + a.toolIDs[i], CallID: a.toolIDs[i], Name: tool.Name, Input: tool.text}
		if tool.text == "" {
			input, err := json.Marshal(tool.Input)
			if err != nil {
				panic(fmt.Sprintf("mockapi: input of tool %s: %v", tool.Name, err))
			}
			call.Type, call.Arguments = "function_call", string(input)
		}
		items = append(items, call)
	}
	return items
}

// writeResponses sends the answer as server-sent events, each item whole.
func writeResponses(w http.ResponseWriter, a answer, req *Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(event string, v map[string]any) {
		v["type"] = event
		data, err := json.Marshal(v)
		if err != nil {
			panic(fmt.Sprintf("mockapi: event %s: %v", event, err))
		}
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data) // a client may hang up
	}
	send("response.created", map[string]any{"response": map[string]any{"id": a.id}})
	for i, it := range a.output(req) {
		send("response.output_item.done", map[string]any{"output_index": i, "item": it})
	}
	u := a.reply.usage()
	input := u.Input + u.CacheWrite + u.CacheRead
	send("response.completed", map[string]any{"response": map[string]any{"id": a.id, "usage": map[string]any{
		"input_tokens": input, "input_tokens_details": map[string]any{"cached_tokens": u.CacheRead},
		"output_tokens": u.Output, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
		"total_tokens": input + u.Output,
	}}})
}
