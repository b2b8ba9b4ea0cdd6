// Package copilot translates the transcripts of Copilot CLI: events in JSON lines, with
// their facts in data.
package copilot

import (
	"cmp"
	"encoding/json"
	"path/filepath"

	"strandline/internal/transcript"
)

// Client describes Copilot CLI.
func Client() transcript.Client {
	return transcript.Client{
		Name: "copilot", Title: "Copilot CLI", New: New, Resume: []string{"copilot", "--resume"},
		Start: []string{"copilot", "--interactive"},
		Roots: func(getenv func(string) string, home string) []string {
			return transcript.Folders(getenv("COPILOT_HOME"), home, ".copilot", "session-state")
		},
		File: func(path string) (string, bool) { // session-state/<id>/events.jsonl
			dir := filepath.Dir(path)
			return filepath.Base(dir), filepath.Base(path) == "events.jsonl" && filepath.Base(filepath.Dir(dir)) == "session-state"
		},
		Place: func(_, session string) string { return "session-state/" + session + "/events.jsonl" },
	}
}

// New returns a translator of one transcript.
func New() transcript.Translator { return &Translator{} }

// Translator translates events. The fields are its state.
type Translator struct {
	Model   string // of the session
	Message string // id of the last response
	Parent  string // of the next prompt, after a rewind
}

type event struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Timestamp any    `json:"timestamp"`
	Data      data   `json:"data"`
}

type data struct {
	Session string `json:"sessionId"`
	Version string `json:"copilotVersion"`
	Context struct {
		Cwd    string `json:"cwd"`
		Branch string `json:"branch"`
	} `json:"context"`
	Title    string `json:"title"`
	NewModel string `json:"newModel"`
	Model    string `json:"model"`
	UpTo     string `json:"upToEventId"`

	Content   json.RawMessage `json:"content"`
	Source    string          `json:"source"` // of a prompt that the user did not type
	MessageID string          `json:"messageId"`
	Reasoning string          `json:"reasoningText"`
	Output    int64           `json:"outputTokens"`
	Requests  []call          `json:"toolRequests"`
	ParentID  string          `json:"parentToolCallId"` // of a sub-agent's events

	call
	Success *bool           `json:"success"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`

	Before  int64  `json:"preCompactionTokens"`
	After   int64  `json:"postCompactionTokens"`
	Summary string `json:"summaryContent"`
	Trigger string `json:"trigger"`

	Metrics map[string]struct {
		Usage struct {
			Input      int64 `json:"inputTokens"` // with those of the cache
			Output     int64 `json:"outputTokens"`
			CacheRead  int64 `json:"cacheReadTokens"`
			CacheWrite int64 `json:"cacheWriteTokens"`
		} `json:"usage"`
	} `json:"modelMetrics"`
}

type call struct {
	ID        string          `json:"toolCallId"`
	Name      string          `json:"name"`
	Tool      string          `json:"toolName"`
	Arguments json.RawMessage `json:"arguments"`
}

// Translate implements transcript.Translator.
func (t *Translator) Translate(line []byte) []transcript.Entry {
	var e event
	if !transcript.Decode(line, &e) {
		return nil
	}
	d := &e.Data
	at := transcript.Entry{Type: transcript.EntryOther, UUID: e.ID, Time: e.Timestamp, Sidechain: d.ParentID != ""}
	switch e.Type {
	case "session.start", "session.resume":
		at.Session, at.Version, at.Cwd, at.Branch = d.Session, d.Version, d.Context.Cwd, d.Context.Branch
	case "session.model_change":
		t.Model = d.NewModel
	case "session.title_changed":
		at.Type, at.Title = transcript.EntryTitle, d.Title
	case "session.snapshot_rewind":
		t.Parent = d.UpTo
	case "session.compaction_complete":
		if d.Success == nil || *d.Success {
			return transcript.Compaction(at, transcript.EntryCompact{Trigger: d.Trigger, Before: d.Before, After: d.After}, d.Summary)
		}
	case "session.shutdown":
		at.Type, at.Message = transcript.EntryTotals, &transcript.EntryMessage{Usage: d.totals()}
	case "user.message":
		at.Type, at.Parent, t.Parent = transcript.EntryUser, t.Parent, ""
		at.Meta = d.Source != "" && d.Source != "user"
		at.Message = &transcript.EntryMessage{Content: []transcript.EntryBlock{transcript.TextBlock(transcript.Text(d.Content))}}
	case "assistant.message":
		return []transcript.Entry{t.response(at, d)}
	case "tool.execution_start":
		if d.Arguments == nil { // the call is in the response as well
			d.Arguments = json.RawMessage("{}")
		}
		at.Type, at.UUID = transcript.EntryAssistant, ""
		at.Message = &transcript.EntryMessage{ID: t.Message, Content: []transcript.EntryBlock{transcript.UseBlock(d.ID, d.Tool, d.Arguments)}}
	case "tool.execution_complete":
		return []transcript.Entry{d.result(at)}
	}
	return []transcript.Entry{at}
}

// response translates a response and remembers it for its calls.
func (t *Translator) response(at transcript.Entry, d *data) transcript.Entry {
	t.Message = transcript.Identity(cmp.Or(d.MessageID, at.UUID), at.Time)
	if d.Model != "" {
		t.Model = d.Model
	}
	m := &transcript.EntryMessage{ID: t.Message, Model: t.Model}
	if d.Output > 0 {
		m.Usage = &transcript.EntryUsage{Output: d.Output}
	}
	if d.Reasoning != "" {
		m.Content = append(m.Content, transcript.ThinkingBlock(d.Reasoning))
	}
	if s := transcript.Text(d.Content); s != "" {
		m.Content = append(m.Content, transcript.TextBlock(s))
	}
	for _, c := range d.Requests {
		if c.Arguments != nil {
			m.Content = append(m.Content, transcript.UseBlock(c.ID, c.Name, c.Arguments))
		}
	}
	at.Type, at.Message = transcript.EntryAssistant, m
	return at
}

// result translates the result of a call.
func (d *data) result(at transcript.Entry) transcript.Entry {
	var r struct {
		Content json.RawMessage `json:"content"`
		Message string          `json:"message"`
	}
	failed := d.Success != nil && !*d.Success
	body := d.Result
	if failed && len(d.Error) > 0 {
		body = d.Error
	}
	text := transcript.Text(body)
	if transcript.Decode(body, &r) {
		if text = transcript.Text(r.Content); text == "" {
			text = r.Message
		}
	}
	facts := &transcript.EntryResult{ExitCode: transcript.CodeAfter([]byte(text), "exited with exit code ")}
	return transcript.ResultRow(at, d.ID, transcript.String(text), failed, facts)
}

// totals returns the tokens of the session over its models.
func (d *data) totals() *transcript.EntryUsage {
	var sum transcript.EntryUsage
	for _, m := range d.Metrics {
		u := m.Usage
		sum.Input += max(u.Input-u.CacheRead-u.CacheWrite, 0)
		sum.Output += u.Output
		sum.CacheRead += u.CacheRead
		sum.CacheWrite += u.CacheWrite
	}
	return &sum
}
