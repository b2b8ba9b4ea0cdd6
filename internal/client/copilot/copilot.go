// Package copilot translates the transcripts of Copilot CLI: events in JSON lines, with
// their facts in data.
package copilot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"

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
		Hooks: transcript.Hooks{
			Context:      []string{"SessionStart", "UserPromptSubmit", "PostToolUse"},
			KeepsPrompts: true, Unnamed: true, Flat: true,
			Compacted: func(rows []byte) bool {
				return bytes.Contains(rows, []byte(`"type":"session.compaction_complete","data":{"success":true`))
			},
		},
		Setup: setup(),
	}
}

// New returns a translator of one transcript.
func New() transcript.Translator { return &Translator{} }

// Translator translates events. The fields are its state.
type Translator struct {
	Model   string // of the session
	Message string // id of the last response
	Request string // id of the last request, with its tokens
	Usage   tokens
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
	Shell   struct {
		Code *int `json:"exitCode"` // older versions have it in the text alone
	} `json:"shellExecution"`

	Before  int64  `json:"preCompactionTokens"`
	After   int64  `json:"postCompactionTokens"`
	Summary string `json:"summaryContent"`
	Trigger string `json:"trigger"`

	Request string `json:"apiCallId"`
	Usage   struct {
		tokens
		Request string `json:"apiCallId"`
	} `json:"usage"`
	Metrics map[string]struct {
		Usage tokens `json:"usage"`
	} `json:"modelMetrics"`
}

type tokens struct {
	Input      int64 `json:"inputTokens"` // with those of the cache
	Output     int64 `json:"outputTokens"`
	CacheRead  int64 `json:"cacheReadTokens"`
	CacheWrite int64 `json:"cacheWriteTokens"`
}

// usage returns the tokens in the common form.
func (t tokens) usage() *transcript.EntryUsage {
	return &transcript.EntryUsage{
		Input: max(t.Input-t.CacheRead-t.CacheWrite, 0), Output: t.Output, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite,
	}
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
	case "session.usage_record": // before the response; older versions have none
		t.Request, t.Usage = d.Usage.Request, d.Usage.tokens
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
	switch {
	case d.Request != "" && d.Request == t.Request:
		m.Usage, t.Request = t.Usage.usage(), ""
	case d.Output > 0:
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
		Alone   string          `json:"detailedContent"`
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
		if hooks, ok := strings.CutPrefix(text, r.Alone); ok && r.Alone != "" && isHookText(hooks) {
			text = r.Alone
		}
	}
	facts := &transcript.EntryResult{ExitCode: transcript.CodeAfter([]byte(text), " with exit code ")}
	if d.Shell.Code != nil {
		facts.ExitCode = d.Shell.Code
		failed = failed || *d.Shell.Code != 0
		if i := strings.LastIndexByte(text, '\n') + 1; strings.HasPrefix(text[i:], "<shellId: ") {
			text = text[:max(i-1, 0)] // the client's line about the code
		}
	}
	return transcript.ResultRow(at, d.ID, transcript.String(text), failed, facts)
}

// isHookText reports whether s is what hooks added after the output of a tool.
func isHookText(s string) bool {
	head, _, found := strings.Cut(s, " Additional guidance from postToolUse hooks:\n")
	return found && strings.HasPrefix(head, "\n\nTool \"") && !strings.Contains(head[2:], "\n")
}

// totals returns the tokens of the session over its models.
func (d *data) totals() *transcript.EntryUsage {
	var sum transcript.EntryUsage
	for _, m := range d.Metrics {
		u := m.Usage.usage()
		sum.Input += u.Input
		sum.Output += u.Output
		sum.CacheRead += u.CacheRead
		sum.CacheWrite += u.CacheWrite
	}
	return &sum
}
