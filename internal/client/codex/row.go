package codex

import (
	"encoding/json"
	"strings"

	"strandline/internal/transcript"
)

// Types of rows and payloads.
const (
	rowMeta      = "session_meta"
	rowContext   = "turn_context"
	rowItem      = "response_item"
	rowEvent     = "event_msg"
	rowCompacted = "compacted"
	rowUsage     = "token_usage_record"
)

// row is a line. Decoding all kinds of payloads at once is cheaper than one after the other.
type row struct {
	Time    string  `json:"timestamp"`
	Type    string  `json:"type"`
	Payload payload `json:"payload"`
}

// payload has the members of all kinds of payloads that are of interest.
type payload struct {
	Type string `json:"type"`
	ID   string `json:"id"`

	// Of the first row. A copy of another session begins with its own and repeats that
	// session's.
	Session string          `json:"session_id"` // the main one, in newer versions
	Cwd     string          `json:"cwd"`
	Version string          `json:"cli_version"`
	Source  json.RawMessage `json:"source"` // a name, or an object for a sub-agent
	Git     struct {
		Branch string `json:"branch"`
	} `json:"git"`

	// Before the first request of a turn.
	Turn   string `json:"turn_id"`
	Model  string `json:"model"`
	Window int64  `json:"model_context_window"`

	// Of an item of the conversation.
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Summary   json.RawMessage `json:"summary"` // of reasoning
	CallID    string          `json:"call_id"`
	Namespace string          `json:"namespace"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // JSON in a text, or JSON
	Input     json.RawMessage `json:"input"`     // a text
	Output    json.RawMessage `json:"output"`
	Action    struct {
		Query   string          `json:"query"`
		URL     string          `json:"url"`
		Command json.RawMessage `json:"command"`
	} `json:"action"`
	Passed struct {
		Turn  string   `json:"turn_id"`
		Kinds []string `json:"content_item_kinds"`
	} `json:"internal_chat_message_metadata_passthrough"`

	// Of an event, and of a compaction.
	Message string          `json:"message"`
	Thread  string          `json:"thread_name"`
	Reason  string          `json:"reason"`
	Item    json.RawMessage `json:"item"`
	Info    *struct {
		Total  tokens `json:"total_token_usage"`
		Last   tokens `json:"last_token_usage"`
		Window int64  `json:"model_context_window"`
	} `json:"info"`

	// Of a row that counts tokens.
	Usage       tokens `json:"usage"`
	ThreadUsage tokens `json:"thread_token_usage"`
}

// parent returns the session that started a sub-agent, "" for a main session.
func (p *payload) parent() string {
	var source struct {
		Agent json.RawMessage `json:"subagent"`
	}
	var spawn struct {
		Thread struct {
			Parent string `json:"parent_thread_id"`
		} `json:"thread_spawn"`
	}
	if !transcript.Decode(p.Source, &source) || !transcript.Decode(source.Agent, &spawn) {
		return ""
	}
	if p.Session != "" && p.Session != p.ID { // also of an agent's agent
		return p.Session
	}
	return spawn.Thread.Parent
}

// done is a call that ended: the payload of an event, or the item in one.
type done struct {
	Type       string            `json:"type"`
	ID         string            `json:"id"`
	CallID     string            `json:"call_id"`
	Command    json.RawMessage   `json:"command"`
	Output     string            `json:"aggregated_output"`
	Exit       *int              `json:"exit_code"`
	Status     string            `json:"status"`
	Changes    map[string]change `json:"changes"`
	Success    *bool             `json:"success"`
	Stdout     string            `json:"stdout"`
	Stderr     string            `json:"stderr"`
	Server     string            `json:"server"`
	Tool       string            `json:"tool"`
	Arguments  json.RawMessage   `json:"arguments"`
	Result     json.RawMessage   `json:"result"`
	Error      json.RawMessage   `json:"error"`
	Invocation struct {
		Server    string          `json:"server"`
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"invocation"`
}

// change is a changed file.
type change struct {
	Type    string  `json:"type"` // add, update, delete
	Content string  `json:"content"`
	Diff    string  `json:"unified_diff"`
	Move    *string `json:"move_path"`
}

// tokens counts those of a response, or of a session. Input includes the cached ones.
type tokens struct {
	Input      int64 `json:"input_tokens"`
	Cached     int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
	Total      int64 `json:"total_tokens"`
}

func (t tokens) entry() *transcript.EntryUsage {
	return &transcript.EntryUsage{
		Input: max(t.Input-t.Cached-t.CacheWrite, 0), Output: t.Output, CacheRead: t.Cached, CacheWrite: t.CacheWrite,
	}
}

// content is an element of a message's or an output's content.
type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// texts returns the texts of a content, and the number of its images. A content may be one
// text.
func texts(raw json.RawMessage) (all []string, images int) {
	if len(raw) > 0 && raw[0] == '"' {
		return []string{transcript.Text(raw)}, 0
	}
	var list []content
	transcript.DecodeList(raw, &list) // else it is empty
	for _, c := range list {
		switch {
		case strings.Contains(c.Type, "image"):
			images++
		case c.Text != "":
			all = append(all, c.Text)
		}
	}
	return all, images
}
