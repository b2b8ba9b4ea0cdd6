package opencode

import (
	"encoding/json"
	"fmt"
	"strings"

	"strandline/internal/transcript"
)

// New returns a translator of one session.
func New() transcript.Translator { return &Translator{} }

// Translator translates lines. The fields are its state.
type Translator struct {
	Agent  bool   // a sub-agent's session, which is not forked
	Title  string // the last one
	Tokens int64  // in the context of the last response
	Manual bool   // the user asked for the compaction that is next
	// After is the message before those that were taken back, as the user did before the
	// next prompt.
	After string
	// Open is the message that was being written, and Shown how much of each of its parts
	// was translated.
	Open  string
	Shown map[string]int
}

// What is translated of a tool's part; of others it is the length of the text.
const (
	shownCall = iota + 1
	shownAll
)

// line is a line: the session, or a message.
type line struct {
	transcript.StoredRow
	Session *session `json:"session"`
	Message message  `json:"message"`
	Parts   []part   `json:"parts"`
}

type session struct {
	ID        string `json:"id"`
	ParentID  string `json:"parent_id"`
	OldParent string `json:"parentID"`
	Directory string `json:"directory"`
	Title     string `json:"title"`
	Version   string `json:"version"`
	Created   int64  `json:"time_created"`
	Time      struct {
		Created int64 `json:"created"`
	} `json:"time"`
}

type message struct {
	ID    string `json:"id"`
	Role  string `json:"role"`
	Model string `json:"modelID"`
	Time  struct {
		Created   int64 `json:"created"`
		Completed int64 `json:"completed"`
	} `json:"time"`
	Path struct {
		Cwd string `json:"cwd"`
	} `json:"path"`
	// Summary is true in the summary of a compaction; of a prompt it is an object.
	Summary json.RawMessage `json:"summary"`
	Finish  string          `json:"finish"`
	Tokens  *tokens         `json:"tokens"`
	Error   *struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	} `json:"error"`
}

// finished reports whether the client writes no more of a message.
func (m *message) finished() bool {
	return m.Role != "assistant" || m.Time.Completed > 0 || m.Error != nil
}

type tokens struct {
	Input     int64 `json:"input"`
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning"`
	Cache     struct {
		Read  int64 `json:"read"`
		Write int64 `json:"write"`
	} `json:"cache"`
}

type part struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"` // written by the client
	Ignored   bool   `json:"ignored"`   // not sent to the model
	Mime      string `json:"mime"`      // of a file
	Prompt    string `json:"prompt"`    // of a subtask
	Auto      bool   `json:"auto"`      // of a compaction

	Tool   string `json:"tool"`
	CallID string `json:"callID"`
	State  struct {
		Status   string          `json:"status"`
		Input    json.RawMessage `json:"input"`
		Output   string          `json:"output"`
		Error    string          `json:"error"`
		Metadata struct {
			Exit *int `json:"exit"`
		} `json:"metadata"`
		Time struct {
			Start int64 `json:"start"`
			End   int64 `json:"end"`
		} `json:"time"`
	} `json:"state"`
}

// Translate implements transcript.Translator.
func (t *Translator) Translate(data []byte) []transcript.Entry {
	var l line
	if !transcript.Decode(data, &l) {
		return nil
	}
	switch {
	case l.Removed:
		t.After = l.After
		return nil
	case l.Session != nil:
		return t.session(l.Session)
	case l.Message.Role == "user" && l.Version < 2: // later versions only count what the turn changed
		return t.prompt(&l)
	case l.Message.Role == "assistant":
		return t.response(&l)
	}
	return nil
}

func (t *Translator) session(s *session) []transcript.Entry {
	at := transcript.Entry{Type: transcript.EntryOther, Session: s.ID, Cwd: s.Directory, Version: s.Version}
	if created := max(s.Created, s.Time.Created); created > 0 {
		at.Time = created
	}
	if parent := s.ParentID + s.OldParent; parent != "" {
		at.Session, at.Agent, t.Agent = parent, s.ID, true
	}
	rows := []transcript.Entry{at}
	if s.Title != t.Title && !strings.HasPrefix(s.Title, "New session - ") && !strings.HasPrefix(s.Title, "Child session - ") {
		rows = append(rows, transcript.Entry{Type: transcript.EntryTitle, Title: s.Title})
	}
	t.Title = s.Title
	return rows
}

// at returns a row of a message with its facts. A fork copies the messages with other ids and the same
// times.
func (t *Translator) at(kind string, m *message) transcript.Entry {
	at := transcript.Entry{Type: kind, UUID: m.ID, Cwd: m.Path.Cwd, Message: &transcript.EntryMessage{ID: m.ID}}
	if m.Time.Created > 0 {
		at.Time = m.Time.Created
		if !t.Agent {
			at.Message.ID = fmt.Sprint(m.Role, "@", m.Time.Created)
		}
	}
	return at
}

// prompt translates a message of the user: the prompt, text that the client added, or the
// request of a compaction.
func (t *Translator) prompt(l *line) []transcript.Entry {
	at := t.at(transcript.EntryUser, &l.Message)
	var typed, added []transcript.EntryBlock
	for _, p := range l.Parts {
		switch {
		case p.Type == "compaction":
			at.Message = nil
			trigger := "manual"
			if p.Auto {
				trigger = "auto"
			}
			return transcript.Compaction(at, transcript.EntryCompact{Trigger: trigger, Before: t.Tokens}, "")
		case p.Type == "text" && p.Synthetic:
			added = append(added, transcript.TextBlock(p.Text))
		case p.Type == "text" && !p.Ignored:
			typed = append(typed, transcript.TextBlock(p.Text))
		case p.Type == "subtask":
			typed = append(typed, transcript.TextBlock(p.Prompt))
		case p.Type == "file" && strings.HasPrefix(p.Mime, "image/"):
			typed = append(typed, transcript.ImageBlock())
		}
	}
	var rows []transcript.Entry
	if len(typed) > 0 {
		row := at
		row.Parent, t.After = t.After, ""
		row.Message = &transcript.EntryMessage{ID: at.Message.ID, Content: typed}
		rows = append(rows, row)
		at.UUID = ""
	}
	if len(added) > 0 {
		at.Meta, at.Message = true, &transcript.EntryMessage{Content: added}
		rows = append(rows, at)
	}
	return rows
}

// response translates what is new in a message of the model.
func (t *Translator) response(l *line) []transcript.Entry {
	m := &l.Message
	if m.ID != t.Open || l.Version < 2 {
		if l.Version > 1 && !l.Finishes {
			return nil // a result was removed from the context since
		}
		t.Open, t.Shown = m.ID, nil
	}
	shown := t.Shown
	if shown == nil {
		shown = map[string]int{}
	}
	if l.Unfinished {
		t.Shown = shown
	} else {
		t.Open, t.Shown = "", nil
	}
	if u := m.Tokens; u != nil {
		t.Tokens = u.Input + u.Output + u.Reasoning + u.Cache.Read + u.Cache.Write
	}
	at := t.at(transcript.EntryAssistant, m)
	if string(m.Summary) == "true" {
		return summary(at, l)
	}
	row := at
	row.Message.Model, row.Message.Stop = m.Model, m.Finish
	if u := m.Tokens; u != nil && !l.Unfinished {
		row.Message.Usage = &transcript.EntryUsage{Input: u.Input, Output: u.Output + u.Reasoning, CacheRead: u.Cache.Read, CacheWrite: u.Cache.Write}
	}
	var results []transcript.Entry
	for _, p := range l.Parts {
		was := shown[p.ID]
		now := p.shows()
		if shown[p.ID] = max(was, now); now <= was {
			continue
		}
		if p.Type != "tool" {
			p.Text = p.Text[was:] // it grew
		}
		if p.Type != "tool" || was == 0 {
			row.Message.Content = append(row.Message.Content, p.block())
		}
		if p.Type == "tool" && now == shownAll {
			results = append(results, p.result(at))
		}
	}
	if e := m.Error; e != nil && len(row.Message.Content) == 0 {
		row.Failed = true
		row.Message.Content = []transcript.EntryBlock{transcript.TextBlock(strings.TrimSpace(e.Name + " " + e.Data.Message))}
	}
	if len(row.Message.Content) == 0 && row.Message.Usage == nil {
		return nil
	}
	return append([]transcript.Entry{row}, results...)
}

// summary translates the summary of a compaction.
func summary(at transcript.Entry, l *line) []transcript.Entry {
	var text []string
	for _, p := range l.Parts {
		if p.Type == "text" {
			text = append(text, p.Text)
		}
	}
	if l.Unfinished || len(text) == 0 {
		return nil
	}
	return []transcript.Entry{transcript.SummaryRow(transcript.Entry{UUID: at.UUID, Time: at.Time}, strings.Join(text, "\n\n"))}
}

// shows returns how much of a part is translated; 0 for parts that are not shown, or not yet.
func (p *part) shows() int {
	switch p.Type {
	case "text", "reasoning":
		if !p.Ignored {
			return len(p.Text)
		}
	case "tool":
		switch p.State.Status {
		case "completed", "error":
			return shownAll
		case "running":
			return shownCall
		}
	}
	return 0
}

func (p *part) block() transcript.EntryBlock {
	switch p.Type {
	case "tool":
		return transcript.UseBlock(p.CallID, p.Tool, p.State.Input)
	case "reasoning":
		return transcript.ThinkingBlock(p.Text)
	}
	return transcript.TextBlock(p.Text)
}

func (p *part) result(at transcript.Entry) transcript.Entry {
	s := &p.State
	row := transcript.Entry{}
	if s.Time.End > 0 {
		row.Time = s.Time.End
	} else {
		row.Time = at.Time
	}
	facts := &transcript.EntryResult{ExitCode: s.Metadata.Exit, DurationMs: max(s.Time.End-s.Time.Start, 0)}
	failed := s.Status == "error" || facts.ExitCode != nil && *facts.ExitCode != 0
	text := s.Output
	if s.Error != "" {
		text = s.Error
	}
	return transcript.ResultRow(row, p.CallID, transcript.String(text), failed, facts)
}
