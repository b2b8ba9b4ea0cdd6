// Package droid translates the transcripts of Factory's droid: rows like Claude Code's, with
// the role of a message inside it.
package droid

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"strandline/internal/transcript"
)

// Client describes droid.
func Client() transcript.Client {
	return transcript.Client{
		Name: "droid", Title: "Factory droid", New: New, Resume: []string{"droid", "--resume"}, Hooks: hooks(), Setup: setup(),
		Start: []string{"droid"},
		Roots: func(_ func(string) string, home string) []string {
			return transcript.Folders("", home, ".factory", "sessions")
		},
		File: func(path string) (string, bool) { // sessions/<project>/<id>.jsonl
			id, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
			project := filepath.Dir(path)
			return id, ok && strings.HasPrefix(filepath.Base(project), "-") && !strings.HasPrefix(filepath.Base(project), "--") &&
				filepath.Base(filepath.Dir(project)) == "sessions"
		},
		Place: func(source, _ string) string {
			return "sessions/" + filepath.Base(filepath.Dir(source)) + "/" + filepath.Base(source)
		},
	}
}

// New returns a translator of one transcript.
func New() transcript.Translator { return &translator{} }

type translator struct{}

type row struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Parent    string `json:"parentId"`
	Timestamp any    `json:"timestamp"`
	Title     string `json:"title"`
	Cwd       string `json:"cwd"`
	Summary   string `json:"summaryText"`
	Message   struct {
		Role    string                 `json:"role"`
		Model   string                 `json:"model"`
		Content json.RawMessage        `json:"content"`
		Usage   *transcript.EntryUsage `json:"usage"`
	} `json:"message"`
}

// Translate implements transcript.Translator.
func (*translator) Translate(line []byte) []transcript.Entry {
	var r row
	if !transcript.Decode(line, &r) {
		return nil
	}
	at := transcript.Entry{Type: transcript.EntryOther, UUID: r.ID, Parent: r.Parent, Time: r.Timestamp}
	switch r.Type {
	case "session_start":
		return []transcript.Entry{
			{Type: transcript.EntryOther, Session: r.ID, Cwd: r.Cwd, Time: r.Timestamp},
			{Type: transcript.EntryTitle, Title: r.Title},
		}
	case "compaction_state":
		return transcript.Compaction(at, transcript.EntryCompact{}, r.Summary)
	case "message":
		m := &transcript.EntryMessage{Model: r.Message.Model, Usage: r.Message.Usage}
		if !transcript.DecodeList(r.Message.Content, &m.Content) {
			m.Content = []transcript.EntryBlock{transcript.TextBlock(transcript.Text(r.Message.Content))}
		}
		at.Type, at.Message = r.Message.Role, m
	}
	return []transcript.Entry{at}
}
