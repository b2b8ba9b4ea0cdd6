// Package grok translates the sessions of Grok Build: JSON lines of the model's conversation,
// which have no times.
package grok

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"strandline/internal/transcript"
)

const name = "chat_history.jsonl"

// Client describes Grok Build.
func Client() transcript.Client {
	return transcript.Client{
		Name: "grok", Title: "Grok Build", New: New, Open: open, Resume: []string{"grok", "--resume"},
		Roots: func(getenv func(string) string, home string) []string {
			return transcript.Folders(getenv("GROK_HOME"), home, ".grok", "sessions")
		},
		File: func(path string) (string, bool) { // sessions/<folder>/<id>/chat_history.jsonl
			dir := filepath.Dir(path)
			return filepath.Base(dir), filepath.Base(path) == name && filepath.Base(filepath.Dir(filepath.Dir(dir))) == "sessions"
		},
	}
}

// about is what stays the same in the file about a session.
type about struct {
	Info struct {
		ID  string `json:"id"`
		Cwd string `json:"cwd"`
	} `json:"info"`
	Created string `json:"created_at"`
	Branch  string `json:"head_branch"`
}

// open returns the lines of a session after one with its facts, which are in the file beside it.
func open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	var a about
	data, err := os.ReadFile(filepath.Join(filepath.Dir(path), "summary.json"))
	if err != nil || !transcript.Decode(data, &a) {
		return f, nil
	}
	defer f.Close() // opened for reading
	line, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	return transcript.TempFile(io.MultiReader(bytes.NewReader(append(line, '\n')), f))
}

// New returns a translator of one session.
func New() transcript.Translator { return &Translator{} }

// Translator translates rows. The field is its state.
type Translator struct {
	Time string // of the session's start
}

type row struct {
	about
	Type      string          `json:"type"`
	Role      string          `json:"role"` // in old versions
	Content   json.RawMessage `json:"content"`
	Synthetic string          `json:"synthetic_reason"`
	Model     string          `json:"model_id"`
	Reasoning string          `json:"reasoning_content"`
	Summary   []part          `json:"summary"` // of the reasoning
	CallID    string          `json:"tool_call_id"`
	Calls     []struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Args     json.RawMessage `json:"arguments"`
		Function struct {
			Name string          `json:"name"`
			Args json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	Kind struct {
		ID     string          `json:"id"`
		Type   string          `json:"tool_type"`
		Action json.RawMessage `json:"action"`
	} `json:"kind"` // of a call that the provider ran
}

type part struct {
	Text string `json:"text"`
}

// Translate implements transcript.Translator.
func (t *Translator) Translate(line []byte) []transcript.Entry {
	var r row
	if !transcript.Decode(line, &r) {
		return nil
	}
	if r.Info.ID != "" {
		t.Time = r.Created
	}
	at := transcript.Entry{Type: transcript.EntryOther, Session: r.Info.ID, Cwd: r.Info.Cwd, Branch: r.Branch}
	if t.Time != "" {
		at.Time = t.Time
	}
	m := &transcript.EntryMessage{Model: r.Model}
	switch cmp.Or(r.Type, r.Role) {
	case "user":
		at.Type, at.Message, at.Meta = transcript.EntryUser, m, r.Synthetic != "" && r.Synthetic != "interjection"
		m.Content = texts(r.Content)
	case "reasoning":
		at.Type, at.Message = transcript.EntryAssistant, m
		for _, p := range r.Summary {
			m.Content = append(m.Content, transcript.ThinkingBlock(p.Text))
		}
	case "assistant":
		at.Type, at.Message = transcript.EntryAssistant, m
		if r.Reasoning != "" {
			m.Content = append(m.Content, transcript.ThinkingBlock(r.Reasoning))
		}
		m.Content = append(m.Content, texts(r.Content)...)
		for _, c := range r.Calls {
			args := c.Args
			if len(args) == 0 {
				args = c.Function.Args
			}
			m.Content = append(m.Content, transcript.UseBlock(c.ID, cmp.Or(c.Name, c.Function.Name), args))
		}
	case "backend_tool_call":
		at.Type, at.Message = transcript.EntryAssistant, m
		m.Content = []transcript.EntryBlock{transcript.UseBlock(r.Kind.ID, r.Kind.Type, r.Kind.Action)}
	case "tool_result", "tool":
		return []transcript.Entry{transcript.ResultRow(at, r.CallID, r.Content, false, nil)}
	}
	return []transcript.Entry{at}
}

// texts returns the blocks of a text, or of a list of them.
func texts(content json.RawMessage) (blocks []transcript.EntryBlock) {
	var parts []part
	if !transcript.DecodeList(content, &parts) {
		parts = []part{{transcript.Text(content)}}
	}
	for _, p := range parts {
		if p.Text != "" {
			blocks = append(blocks, transcript.TextBlock(p.Text))
		}
	}
	return blocks
}
