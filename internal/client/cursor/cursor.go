// Package cursor translates the transcripts of Cursor: JSON lines of messages without ids,
// results and times, except for the time in the text of a prompt.
package cursor

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"strandline/internal/transcript"
)

// Client describes Cursor.
func Client() transcript.Client {
	return transcript.Client{
		Name: "cursor", Title: "Cursor", New: New, Start: []string{"cursor-agent"},
		Roots: func(_ func(string) string, home string) []string {
			return transcript.Folders("", home, ".cursor", "projects")
		},
		File: func(path string) (string, bool) { // agent-transcripts/<id>.jsonl or agent-transcripts/<id>/<id>.jsonl
			id, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
			dir := filepath.Dir(path)
			if filepath.Base(dir) == id {
				dir = filepath.Dir(dir)
			}
			return id, ok && filepath.Base(dir) == "agent-transcripts"
		},
		Place: func(source, _ string) string {
			source = filepath.ToSlash(source)
			return source[strings.LastIndex(source, "/projects/")+1:]
		},
	}
}

// New returns a translator of one transcript.
func New() transcript.Translator { return &Translator{} }

// Translator translates rows. The field is its state.
type Translator struct {
	Time string // of the last prompt with one
}

type row struct {
	Type    string `json:"type"`
	Role    string `json:"role"`
	Error   string `json:"error"`
	Message struct {
		Content []transcript.EntryBlock `json:"content"`
	} `json:"message"`
}

// Translate implements transcript.Translator.
func (t *Translator) Translate(line []byte) []transcript.Entry {
	var r row
	if !transcript.Decode(line, &r) {
		return nil
	}
	at := transcript.Entry{Type: r.Role}
	for i, b := range r.Message.Content {
		if b.Type == "tool_use" && len(b.Input) == 0 {
			r.Message.Content[i].Input = json.RawMessage("{}")
		}
		if r.Role == transcript.EntryUser && b.Text != nil {
			prompt := t.prompt(*b.Text)
			r.Message.Content[i].Text = &prompt
		}
	}
	if r.Role == "" { // the end of a turn
		at.Type, at.Subtype, at.Content = transcript.EntrySystem, r.Type, r.Error
	} else {
		at.Message = &transcript.EntryMessage{Content: r.Message.Content}
	}
	if t.Time != "" {
		at.Time = t.Time
	}
	return []transcript.Entry{at}
}

// prompt returns the user's own text, and remembers its time, as in
// "Saturday, Aug 29, 2026, 1:20 PM (UTC+2)".
func (t *Translator) prompt(s string) string {
	if stamp, ok := between(s, "<timestamp>", "</timestamp>"); ok {
		local, zone, _ := strings.Cut(stamp, " (UTC")
		at, err := time.Parse("Monday, Jan 2, 2006, 3:04 PM", strings.TrimSpace(local))
		if err == nil {
			hours, _ := strconv.ParseFloat(strings.TrimSuffix(zone, ")"), 64) // 0: UTC
			t.Time = at.Add(-time.Duration(hours * float64(time.Hour))).Format(time.RFC3339)
		}
	}
	if typed, ok := between(s, "<user_query>", "</user_query>"); ok {
		return typed
	}
	return s
}

func between(s, from, to string) (string, bool) {
	_, rest, found := strings.Cut(s, from)
	inner, _, closed := strings.Cut(rest, to)
	return strings.TrimSpace(inner), found && closed
}
