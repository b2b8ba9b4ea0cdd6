package gemini

import (
	"encoding/json"
	"strings"

	"strandline/internal/text"
	"strandline/internal/transcript"
)

// part is one part of a message in the form of the Gemini API.
type part struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought"`
	Call    *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response struct {
		ID       string          `json:"id"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
	Image *struct{} `json:"inlineData"`
}

// Blocks translates the content of a message: a text, or parts. It omits results.
func Blocks(content json.RawMessage) (all []transcript.EntryBlock) {
	var parts []part
	if !transcript.DecodeList(content, &parts) {
		if s := transcript.Text(content); s != "" {
			all = append(all, transcript.TextBlock(s))
		}
		return all
	}
	for i, p := range parts {
		switch {
		case i > 0 && added(p.Text):
		case p.Call != nil:
			all = append(all, transcript.UseBlock(p.Call.ID, p.Call.Name, p.Call.Args))
		case p.Image != nil:
			all = append(all, transcript.ImageBlock())
		case p.Thought && p.Text != "":
			all = append(all, transcript.ThinkingBlock(p.Text))
		case p.Text != "":
			all = append(all, transcript.TextBlock(prompt(p.Text, i)))
		}
	}
	return all
}

// added reports whether a part of a prompt is text that a hook added.
func added(part string) bool {
	part = strings.TrimSpace(part)
	return strings.HasPrefix(part, hookContext) || strings.HasPrefix(part, "<qwen:user-prompt-submit-context>")
}

// prompt returns a part without what a hook of SessionStart added before a session's first
// prompt.
func prompt(part string, i int) string {
	if i == 0 && strings.HasPrefix(part, hookContext) {
		if _, after, ok := strings.Cut(part, "</hook_context>\n\n"); ok {
			return after
		}
	}
	return part
}

// hookContext begins what a hook added to a prompt, or after a blank line to a result.
const hookContext = "<hook_context>"

// withoutRecord returns a result without what a hook of Strandline added.
func withoutRecord(body string) string {
	if at := strings.LastIndex(body, "\n\n"+hookContext); at >= 0 && strings.Contains(body[at:], text.FenceOpen) {
		return body[:at]
	}
	return body
}

// Results calls fn with the results in the content of a message.
func Results(content json.RawMessage, fn func(id, body string, failed bool)) {
	var parts []part
	if !transcript.DecodeList(content, &parts) {
		return
	}
	for _, p := range parts {
		if p.Response.Response != nil {
			body, failed := Response(p.Response.Response)
			fn(p.Response.ID, body, failed)
		}
	}
}

// Response returns the text of a call's response, and whether it is an error.
func Response(response json.RawMessage) (body string, failed bool) {
	var r struct {
		Output json.RawMessage `json:"output"`
		Error  json.RawMessage `json:"error"`
	}
	if !transcript.Decode(response, &r) || r.Output == nil && r.Error == nil {
		return transcript.Text(response), false
	}
	if len(r.Error) > 0 && string(r.Error) != "null" {
		return transcript.Text(r.Error), true
	}
	return withoutRecord(transcript.Text(r.Output)), false
}

// textOf returns the text of a message.
func textOf(content json.RawMessage) string {
	var b strings.Builder
	for _, block := range Blocks(content) {
		if block.Text != nil {
			b.WriteString(*block.Text)
		}
	}
	return b.String()
}
