package mockapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Chat Completions, which Qwen Code speaks, and the Gemini API: other names in the requests
// and the answers, the same script.

// chatPath ends the path of a request of Chat Completions.
const chatPath = "/chat/completions"

// gemini reports whether the path is one of the Gemini API.
func gemini(path string) bool { return strings.Contains(path, "enerateContent") }

// Run calls the shell tool of Qwen Code and Gemini CLI.
func Run(command string) Tool {
	return Tool{Name: "run_shell_command", Input: map[string]any{"command": command, "description": "Run it", "is_background": false}}
}

// WriteFile calls their file writing tool; path has to be absolute.
func WriteFile(path, content string) Tool {
	return Tool{Name: "write_file", Input: map[string]any{"file_path": path, "content": content}}
}

// snapshotPrompts are parts of the prompts for a summary.
var snapshotPrompts = []string{"generate the updated <state_snapshot>", "Critically evaluate the <state_snapshot>", "produce the <state_snapshot> XML", "You are the component that summarizes"}

// classify sets the kind of a request of these clients.
func (r *Request) classify() *Request {
	r.Kind = Turn
	for _, m := range r.tail() {
		for _, part := range snapshotPrompts {
			if m.holds(part) {
				r.Kind = Compaction
			}
		}
	}
	return r
}

// parseChat reads the body of a request of Chat Completions.
func parseChat(path string, body []byte) (*Request, error) {
	var w struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string `json:"role"`
			Content parts  `json:"content"`
			CallID  string `json:"tool_call_id"`
			Calls   []struct {
				ID       string `json:"id"`
				Function struct {
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, err
	}
	r := &Request{Path: path, Model: w.Model, Body: body}
	for _, m := range w.Messages {
		msg := Message{Role: m.Role}
		for _, p := range m.Content {
			if m.Role == "system" {
				r.System += p.Text + "\n"
			}
			msg.Blocks = append(msg.Blocks, Block{Type: "text", Text: p.Text, ToolUseID: m.CallID})
		}
		for _, c := range m.Calls {
			msg.Blocks = append(msg.Blocks, Block{Type: "tool_use", ID: c.ID, Text: c.Function.Arguments})
		}
		if m.Role != "system" {
			r.Messages = append(r.Messages, msg)
		}
	}
	return r.classify(), nil
}

// parseGemini reads the body of a request of the Gemini API.
func parseGemini(path string, body []byte) (*Request, error) {
	var w struct {
		System struct {
			Parts parts `json:"parts"`
		} `json:"systemInstruction"`
		Contents []struct {
			Role  string `json:"role"`
			Parts []struct {
				Text string `json:"text"`
				Call *struct {
					ID   string          `json:"id"`
					Args json.RawMessage `json:"args"`
				} `json:"functionCall"`
				Response *struct {
					ID       string `json:"id"`
					Response struct {
						Output string `json:"output"`
						Error  string `json:"error"`
					} `json:"response"`
				} `json:"functionResponse"`
			} `json:"parts"`
		} `json:"contents"`
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, err
	}
	r := &Request{Path: path, Body: body}
	for _, p := range w.System.Parts {
		r.System += p.Text + "\n"
	}
	for _, c := range w.Contents {
		msg := Message{Role: c.Role}
		if c.Role == "model" {
			msg.Role = "assistant"
		}
		for _, p := range c.Parts {
			b := Block{Type: "text", Text: p.Text}
			if p.Call != nil {
				b = Block{Type: "tool_use", ID: p.Call.ID, Text: string(p.Call.Args)}
			}
			if p.Response != nil {
				b = Block{Type: "tool_result", ToolUseID: p.Response.ID, Text: p.Response.Response.Output + p.Response.Response.Error}
			}
			msg.Blocks = append(msg.Blocks, b)
		}
		r.Messages = append(r.Messages, msg)
	}
	return r.classify(), nil
}

// said returns the answer's text; a summary has the form that these clients expect.
func (a answer) said(req *Request) string {
	if req.Kind == Compaction {
		return "<state_snapshot><overall_goal>We worked.</overall_goal></state_snapshot>"
	}
	return a.reply.text
}

// sendEvents writes JSON values as server-sent events.
func sendEvents(w http.ResponseWriter, events ...any) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, v := range events {
		data, err := json.Marshal(v)
		if err != nil {
			panic(fmt.Sprintf("mockapi: %v", err))
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data) // a client may hang up
	}
}

// writeChat sends the answer of Chat Completions as a stream.
func writeChat(w http.ResponseWriter, a answer, req *Request) {
	delta, finish := map[string]any{"role": "assistant", "content": a.said(req)}, "stop"
	var calls []any
	for i, tool := range a.reply.tools {
		arguments, err := json.Marshal(tool.Input)
		if err != nil {
			panic(fmt.Sprintf("mockapi: input of tool %s: %v", tool.Name, err))
		}
		calls = append(calls, map[string]any{
			"index": i, "id": a.toolIDs[i], "type": "function", "function": map[string]any{"name": tool.Name, "arguments": string(arguments)},
		})
	}
	if len(calls) > 0 {
		delta["tool_calls"], finish = calls, "tool_calls"
	}
	chunk := func(choices []any, usage any) map[string]any {
		return map[string]any{"id": a.id, "object": "chat.completion.chunk", "created": 1, "model": a.model, "choices": choices, "usage": usage}
	}
	u := a.reply.usage()
	input := u.Input + u.CacheWrite + u.CacheRead
	sendEvents(w,
		chunk([]any{map[string]any{"index": 0, "delta": delta}}, nil),
		chunk([]any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": finish}}, nil),
		chunk([]any{}, map[string]any{
			"prompt_tokens": input, "completion_tokens": u.Output, "total_tokens": input + u.Output,
			"prompt_tokens_details": map[string]any{"cached_tokens": u.CacheRead},
		}))
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n") // a client may hang up
}

// writeGemini sends the answer of the Gemini API, as a stream if the path asks for one.
func writeGemini(w http.ResponseWriter, a answer, req *Request) {
	var list []any
	if text := a.said(req); text != "" {
		list = append(list, map[string]any{"text": text})
	}
	for i, tool := range a.reply.tools {
		list = append(list, map[string]any{"functionCall": map[string]any{"id": a.toolIDs[i], "name": tool.Name, "args": tool.Input}})
	}
	u := a.reply.usage()
	input := u.Input + u.CacheWrite + u.CacheRead
	v := map[string]any{
		"candidates": []any{map[string]any{"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": list}}},
		"usageMetadata": map[string]any{
			"promptTokenCount": input, "candidatesTokenCount": u.Output, "totalTokenCount": input + u.Output, "cachedContentTokenCount": u.CacheRead,
		},
		"modelVersion": "gemini-2.5-pro", "responseId": a.id,
	}
	if strings.Contains(req.Path, "stream") {
		sendEvents(w, v)
		return
	}
	writeJSON(w, http.StatusOK, v)
}
