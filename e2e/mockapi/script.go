package mockapi

import (
	"encoding/json"
	"maps"
)

// Tool is a tool call that a reply asks the client to make.
type Tool struct {
	Name  string
	Input map[string]any
	text  string // the input of a tool that takes text, "" for one that takes JSON
}

// Bash calls the client's shell tool.
func Bash(command string) Tool {
	return Tool{Name: "Bash", Input: map[string]any{"command": command, "description": "Run it"}}
}

// Read calls the client's file reading tool; path has to be absolute.
func Read(path string) Tool {
	return Tool{Name: "Read", Input: map[string]any{"file_path": path}}
}

// Write calls the client's file writing tool; path has to be absolute.
func Write(path, content string) Tool {
	return Tool{Name: "Write", Input: map[string]any{"file_path": path, "content": content}}
}

// Agent starts a sub-agent. Its prompt needs a separate rule. The call returns when
// the agent has ended.
func Agent(description, prompt string) Tool {
	return Tool{Name: "Agent", Input: map[string]any{
		"description": description, "prompt": prompt,
		"subagent_type": "general-purpose", "run_in_background": false,
	}}
}

// InBackground has an agent run beside its parent: the call ends at once, and the
// client notifies the parent when the agent has ended.
func (t Tool) InBackground() Tool {
	input := maps.Clone(t.Input)
	input["run_in_background"] = true
	return Tool{Name: t.Name, Input: input}
}

// Reply is one answer of the model.
type Reply struct {
	thinking string
	text     string
	tools    []Tool
	context  int64
	output   int64
	fail     *apiError
	gate     <-chan struct{}
}

type apiError struct {
	status  int
	kind    string
	message string
}

// Say answers with text.
func Say(text string) Reply { return Reply{text: text} }

// Use answers with tool calls.
func Use(tools ...Tool) Reply { return Reply{tools: tools} }

// Fail answers with an error, once: the client's next attempt at the same place
// gets the reply that follows.
func Fail(status int, kind, message string) Reply {
	return Reply{fail: &apiError{status: status, kind: kind, message: message}}
}

// TooLong answers as the API does when the conversation does not fit.
func TooLong() Reply {
	return Fail(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
}

// Thinking puts a thinking block before the rest.
func (r Reply) Thinking(text string) Reply {
	r.thinking = text
	return r
}

// Saying puts text before the tool calls.
func (r Reply) Saying(text string) Reply {
	r.text = text
	return r
}

// At reports that the request filled tokens of the context window. Without it a
// reply reports a few thousand.
func (r Reply) At(tokens int64) Reply {
	r.context = tokens
	return r
}

// After holds the answer back until the channel is closed or the client gives up.
func (r Reply) After(gate <-chan struct{}) Reply {
	r.gate = gate
	return r
}

// usage is the usage record of an answer.
type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

func (r Reply) usage() usage {
	context, output := r.context, r.output
	if context == 0 {
		context = 3000
	}
	if output == 0 {
		output = 20
	}
	return usage{Input: 10, CacheWrite: 90, CacheRead: max(context-100, 0), Output: output}
}

func (r Reply) stopReason() string {
	if len(r.tools) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

// block is one content block of an answer.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  string          `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
}

// rule is a prompt and the replies to it and to the results of its tools.
type rule struct {
	prompt  string
	replies []Reply
	served  []bool
}

// take returns the reply at step, passing over failures that have been served
// already, and false after the last one.
func (r *rule) take(step int) (Reply, int, bool) {
	for step < len(r.replies) && r.replies[step].fail != nil && r.served[step] {
		step++
	}
	if step >= len(r.replies) {
		return Reply{}, step, false
	}
	r.served[step] = true
	return r.replies[step], step, true
}
