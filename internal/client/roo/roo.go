// Package roo translates the tasks of Roo Code, an extension of VS Code and its forks: a JSON
// array of messages in the form of the Anthropic API, which is rewritten after each message.
package roo

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"strandline/internal/transcript"
)

const name = "api_conversation_history.json"

// Client describes Roo Code.
func Client() transcript.Client {
	return transcript.Client{
		Name: "roo", Title: "Roo Code", New: New, Open: open,
		Roots: func(getenv func(string) string, home string) (all []string) {
			for _, settings := range []string{".config", "Library/Application Support", getenv("APPDATA")} {
				for _, host := range []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"} {
					if settings != "" {
						all = append(all, transcript.Folders("", home, filepath.Join(settings, host), "User/globalStorage/rooveterinaryinc.roo-cline/tasks")...)
					}
				}
			}
			return append(all, transcript.Folders("", home, ".vscode-server", "data/User/globalStorage/rooveterinaryinc.roo-cline/tasks")...)
		},
		File: func(path string) (string, bool) { // tasks/<id>/api_conversation_history.json
			dir := filepath.Dir(path)
			return filepath.Base(dir), filepath.Base(path) == name && filepath.Base(filepath.Dir(dir)) == "tasks"
		},
	}
}

// open returns the lines of a task. Its folder is in the file beside it.
func open(path string) (*os.File, error) {
	var about struct {
		ID  string `json:"id"`
		Cwd string `json:"workspace"`
	}
	data, err := os.ReadFile(filepath.Join(filepath.Dir(path), "history_item.json"))
	if err != nil || !transcript.Decode(data, &about) {
		return transcript.OpenList(path, "")
	}
	line, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	return transcript.OpenList(path, "", append(line, '\n'))
}

// New returns a translator of one task.
func New() transcript.Translator { return &translator{} }

type translator struct{}

type row struct {
	ID      string          `json:"id"`
	Cwd     string          `json:"workspace"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Time    any             `json:"ts"`
	Summary bool            `json:"isSummary"`
}

// Translate implements transcript.Translator.
func (*translator) Translate(line []byte) []transcript.Entry {
	var r row
	if !transcript.Decode(line, &r) {
		return nil
	}
	if r.Role == "" {
		return []transcript.Entry{{Type: transcript.EntryOther, Session: r.ID, Cwd: r.Cwd}}
	}
	at := transcript.Entry{Type: r.Role, Time: r.Time}
	m := &transcript.EntryMessage{}
	if !transcript.DecodeList(r.Content, &m.Content) {
		m.Content = []transcript.EntryBlock{transcript.TextBlock(transcript.Text(r.Content))}
	}
	if r.Summary {
		at.Type = transcript.EntryOther
		return transcript.Compaction(at, transcript.EntryCompact{}, textOf(m.Content))
	}
	if r.Role == transcript.EntryUser {
		m.Content = typed(m.Content)
	}
	at.Message = m
	return []transcript.Entry{at}
}

// typed returns the blocks of a user message with what the user typed: the client wraps it in
// tags and adds a block with the state of the editor.
func typed(blocks []transcript.EntryBlock) (out []transcript.EntryBlock) {
	for _, b := range blocks {
		if b.Text != nil {
			s := strings.TrimSpace(*b.Text)
			if strings.HasPrefix(s, "<environment_details>") {
				continue
			}
			for _, tag := range []string{"task", "user_message", "feedback"} {
				if _, rest, found := strings.Cut(s, "<"+tag+">"); found {
					s, _, _ = strings.Cut(rest, "</"+tag+">")
				}
			}
			s = strings.TrimSpace(s)
			b.Text = &s
		}
		out = append(out, b)
	}
	return out
}

func textOf(blocks []transcript.EntryBlock) string {
	var all []string
	for _, b := range blocks {
		if b.Text != nil {
			all = append(all, *b.Text)
		}
	}
	return strings.Join(all, "\n")
}
