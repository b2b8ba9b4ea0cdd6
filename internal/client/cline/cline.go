// Package cline translates the sessions of Cline: a JSON file with messages in the form of
// the Anthropic API, which is rewritten after each message.
package cline

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"strandline/internal/transcript"
)

const suffix = ".messages.json"

// Client describes Cline.
func Client() transcript.Client {
	return transcript.Client{
		Name: "cline", Title: "Cline", New: New, Open: open,
		Roots: func(_ func(string) string, home string) []string {
			return transcript.Folders("", home, ".cline/data", "sessions")
		},
		File: func(path string) (string, bool) { // sessions/<id>/<id>.messages.json
			id, ok := strings.CutSuffix(filepath.Base(path), suffix)
			return id, ok && filepath.Base(filepath.Dir(path)) == id
		},
	}
}

// open returns the lines of a session. The working directory is in the file beside it.
func open(path string) (*os.File, error) {
	var about struct {
		Cwd string `json:"cwd"`
	}
	data, err := os.ReadFile(strings.TrimSuffix(path, suffix) + ".json")
	if err != nil || !transcript.Decode(data, &about) || about.Cwd == "" {
		return transcript.OpenList(path, "messages")
	}
	line, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	return transcript.OpenList(path, "messages", append(line, '\n'))
}

// New returns a translator of one session.
func New() transcript.Translator { return &translator{} }

type translator struct{}

type row struct {
	ID        string          `json:"id"`
	Session   string          `json:"sessionId"`
	Cwd       string          `json:"cwd"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Timestamp any             `json:"ts"`
	Model     struct {
		ID string `json:"id"`
	} `json:"modelInfo"`
	Metrics *struct {
		Input      int64 `json:"inputTokens"` // with those of the cache
		Output     int64 `json:"outputTokens"`
		CacheRead  int64 `json:"cacheReadTokens"`
		CacheWrite int64 `json:"cacheWriteTokens"`
	} `json:"metrics"`
}

// Translate implements transcript.Translator.
func (*translator) Translate(line []byte) []transcript.Entry {
	var r row
	if !transcript.Decode(line, &r) {
		return nil
	}
	at := transcript.Entry{Type: r.Role, UUID: r.ID, Time: r.Timestamp}
	if r.Role == "" {
		at.Type, at.Session, at.Cwd = transcript.EntryOther, r.Session, r.Cwd
		return []transcript.Entry{at}
	}
	m := &transcript.EntryMessage{Model: r.Model.ID}
	if !transcript.DecodeList(r.Content, &m.Content) {
		m.Content = []transcript.EntryBlock{transcript.TextBlock(transcript.Text(r.Content))}
	}
	for i, b := range m.Content { // old versions have the reasoning in text
		if b.Type == "thinking" && b.Thinking == nil {
			m.Content[i].Thinking = b.Text
		}
	}
	if u := r.Metrics; u != nil {
		m.Usage = &transcript.EntryUsage{
			Input: max(u.Input-u.CacheRead-u.CacheWrite, 0), Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		}
	}
	at.Message = m
	return []transcript.Entry{at}
}
