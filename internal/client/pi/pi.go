// Package pi translates the transcripts of Pi: JSON lines that form a tree. A row's parent
// is the row before it in the conversation, so a branch is a row whose parent is not the
// last row.
package pi

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"strandline/internal/transcript"
)

// Client describes Pi.
func Client() transcript.Client {
	return transcript.Client{
		Name: "pi", Title: "Pi", New: New, Resume: []string{"pi", "--session"},
		Start: []string{"pi"},
		Roots: func(getenv func(string) string, home string) []string {
			all := transcript.Folders(getenv("PI_CODING_AGENT_DIR"), home, ".pi/agent", "sessions")
			if dir := getenv("PI_CODING_AGENT_SESSION_DIR"); dir != "" {
				all = append(all, transcript.Folders(dir, home, "", "")...)
			}
			return all
		},
		File: func(path string) (string, bool) { // <time>_<id>.jsonl
			name, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
			when, id, named := strings.Cut(name, "_")
			return id, ok && named && len(when) > 18 && when[4] == '-' && when[10] == 'T'
		},
		Place: func(source, _ string) string { // sessions/<folder of the project>/<file>
			return filepath.Join("sessions", filepath.Base(filepath.Dir(source)), filepath.Base(source))
		},
		Hooks: transcript.Hooks{Context: []string{"UserPromptSubmit", "SessionStart"}},
		Setup: setup(),
	}
}

// New returns a translator of one transcript.
func New() transcript.Translator { return &Translator{} }

// Translator translates rows. The fields are its state.
type Translator struct {
	// Branch is the id of a branch's summary, and BranchAt the row at which the branch
	// begins: a prompt after the summary continues there.
	Branch, BranchAt string
}

// row is a line: the session's header, or an entry of the tree.
type row struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Parent    string `json:"parentId"`
	Timestamp any    `json:"timestamp"`
	Cwd       string `json:"cwd"`
	Name      string `json:"name"` // of the session, in session_info
	Message   struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Model   string          `json:"model"`
		Stop    string          `json:"stopReason"`
		Error   string          `json:"errorMessage"`
		Usage   *usage          `json:"usage"`
		CallID  string          `json:"toolCallId"`
		Failed  bool            `json:"isError"`
		Command string          `json:"command"` // bashExecution: typed by the user
		Output  string          `json:"output"`
	} `json:"message"`

	// Of a compaction or the summary of a branch.
	Summary      string          `json:"summary"`
	TokensBefore int64           `json:"tokensBefore"`
	FromHook     bool            `json:"fromHook"`
	Content      json.RawMessage `json:"content"` // of a custom_message
}

type usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
}

// block is a content block of a message.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Translate implements transcript.Translator.
func (t *Translator) Translate(line []byte) []transcript.Entry {
	var r row
	if !transcript.Decode(line, &r) {
		return nil
	}
	at := transcript.Entry{Type: transcript.EntryOther, UUID: r.ID, Parent: r.Parent, Time: r.Timestamp}
	switch r.Type {
	case "session":
		at.UUID, at.Session, at.Cwd = "", r.ID, r.Cwd
	case "session_info":
		at.Type, at.Title = transcript.EntryUserTitle, r.Name
	case "compaction":
		trigger := ""
		if r.FromHook {
			trigger = "plugin"
		}
		return transcript.Compaction(at, transcript.EntryCompact{Trigger: trigger, Before: r.TokensBefore}, r.Summary)
	case "branch_summary":
		t.Branch, t.BranchAt = r.ID, r.Parent
		return []transcript.Entry{transcript.SummaryRow(at, r.Summary)}
	case "message":
		return []transcript.Entry{t.message(at, &r)}
	}
	return []transcript.Entry{at}
}

// message translates a message.
func (t *Translator) message(at transcript.Entry, r *row) transcript.Entry {
	m := &r.Message
	switch m.Role {
	case "user":
		at.Type = transcript.EntryUser
		if at.Parent != "" && at.Parent == t.Branch {
			at.Parent = t.BranchAt
		}
		at.Message = &transcript.EntryMessage{Content: blocks(m.Content)}
	case "assistant":
		at.Type = transcript.EntryAssistant
		at.Message = &transcript.EntryMessage{Model: m.Model, Stop: m.Stop, Content: blocks(m.Content)}
		if u := m.Usage; u != nil {
			at.Message.Usage = &transcript.EntryUsage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
		}
		if m.Error != "" && len(at.Message.Content) == 0 {
			at.Failed = true
			at.Message.Content = []transcript.EntryBlock{transcript.TextBlock(m.Error)}
		}
	case "toolResult":
		facts := &transcript.EntryResult{ExitCode: transcript.CodeAfter(m.Content, "Command exited with code ")}
		return transcript.ResultRow(at, m.CallID, m.Content, m.Failed, facts)
	case "bashExecution":
		at.Type, at.Subtype, at.Content = transcript.EntrySystem, "local_command", "$ "+m.Command+"\n"+m.Output
	}
	return at
}

// blocks translates the content of a message: a text, or blocks.
func blocks(content json.RawMessage) (all []transcript.EntryBlock) {
	var list []block
	if s := transcript.Text(content); len(content) > 0 && content[0] == '"' {
		return []transcript.EntryBlock{transcript.TextBlock(s)}
	}
	if !transcript.DecodeList(content, &list) {
		return nil
	}
	for _, b := range list {
		switch b.Type {
		case "text":
			all = append(all, transcript.TextBlock(b.Text))
		case "thinking":
			all = append(all, transcript.ThinkingBlock(b.Thinking))
		case "toolCall":
			all = append(all, transcript.UseBlock(b.ID, b.Name, b.Arguments))
		case "image":
			all = append(all, transcript.ImageBlock())
		}
	}
	return all
}
