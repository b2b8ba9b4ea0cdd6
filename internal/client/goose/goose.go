// Package goose reads the sessions of Goose: rows of a database or, of versions before
// it, a file of JSON lines. A message has content blocks; tool calls and results are blocks.
package goose

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"strandline/internal/transcript"
)

// Client describes Goose.
func Client() transcript.Client {
	db := &transcript.Database{
		Match:   func(path string) bool { return filepath.Base(path) == "sessions.db" && goose(path) },
		Version: "select max(version) from schema_version",
		Sessions: []string{
			`select s.id, s.parent_session_id, s.working_dir, s.created_at, s.updated_at,
				(select sum(octet_length(content_json)) from messages where session_id = s.id) from sessions s`,
			`select s.id, null, s.working_dir, s.created_at, s.updated_at,
				(select sum(octet_length(content_json)) from messages where session_id = s.id) from sessions s`, // before schema 15
		},
		Rows: rows,
	}
	return transcript.Client{
		Name: "goose", Title: "Goose", New: New, Database: db, Resume: []string{"goose", "session", "--resume", "--session-id"},
		Roots: func(getenv func(string) string, home string) []string {
			return transcript.Folders(getenv("XDG_DATA_HOME"), home, ".local/share", "goose/sessions")
		},
		File: func(path string) (string, bool) { // <day>_<number>.jsonl
			if file, session := transcript.SplitStored(path); session != "" {
				return transcript.StoredID(session), db.Match(file)
			}
			id, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
			return id, ok && goose(path)
		},
	}
}

// goose reports whether a file is in Goose's folder of sessions.
func goose(path string) bool {
	dir := filepath.Dir(path)
	return filepath.Base(dir) == "sessions" && filepath.Base(filepath.Dir(dir)) == "goose"
}

func rows(q transcript.Query, session string, put func(id string, members []byte, done bool) error) error {
	err := q.Each(func(c transcript.Columns) error {
		return put("session", append([]byte(`"session":`), c.Object(0)...), true)
	}, "select * from sessions where id = ?", session)
	if err != nil {
		return err
	}
	return q.Each(func(c transcript.Columns) error {
		return put(c.Text(0), append([]byte(`"message":`), c.Object(1)...), true)
	}, "select coalesce(message_id, id), * from messages where session_id = ? order by created_timestamp, id", session)
}

// New returns a translator of one session.
func New() transcript.Translator { return &translator{} }

type translator struct{}

// line is a line: of the database, or of a file. A file's lines are the session and
// messages as they are.
type line struct {
	transcript.StoredRow
	Session *session `json:"session"`
	Message *message `json:"message"`
}

type session struct {
	ID          string `json:"id"`
	Parent      string `json:"parent_session_id"`
	Dir         string `json:"working_dir"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Created     string `json:"created_at"`
	Input       int64  `json:"accumulated_input_tokens"` // with those of the cache
	Output      int64  `json:"accumulated_output_tokens"`
	CacheRead   int64  `json:"accumulated_cache_read_tokens"`
	CacheWrite  int64  `json:"accumulated_cache_write_tokens"`
}

type message struct {
	Role     string  `json:"role"`
	Stored   []block `json:"content_json"`
	Content  []block `json:"content"`
	Time     int64   `json:"created_timestamp"`
	Created  int64   `json:"created"`
	ID       any     `json:"id"`
	StoredID string  `json:"message_id"`
	Metadata struct {
		Visible *bool `json:"userVisible"`
	} `json:"metadata_json"`
}

type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
	ID       string `json:"id"`
	Call     struct {
		Value struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"value"`
	} `json:"toolCall"`
	Result struct {
		Status string          `json:"status"`
		Error  string          `json:"error"`
		Value  json.RawMessage `json:"value"` // an object with content, before schema 10 the content
	} `json:"toolResult"`
}

// Translate implements transcript.Translator.
func (*translator) Translate(data []byte) []transcript.Entry {
	var l line
	if !transcript.Decode(data, &l) || l.Version > 1 && l.Message != nil { // only its visibility changes
		return nil
	}
	if l.Session == nil && l.Message == nil {
		l.Session, l.Message = new(session), new(message)
		transcript.Decode(data, l.Session)
		transcript.Decode(data, l.Message)
		if l.Message.Role == "" {
			l.Message = nil
		}
	}
	switch {
	case l.Removed:
		return nil
	case l.Message != nil:
		return l.Message.rows(l.Row)
	}
	return l.Session.rows()
}

func (s *session) rows() []transcript.Entry {
	at := transcript.Entry{Type: transcript.EntryOther, Session: s.ID, Cwd: s.Dir}
	if when := strings.Replace(s.Created, " ", "T", 1); when != "" {
		if !strings.HasSuffix(when, "Z") && !strings.Contains(when, "+") {
			when += "Z"
		}
		at.Time = when
	}
	if s.Parent != "" {
		at.Session, at.Agent = s.Parent, s.ID
	}
	rows := []transcript.Entry{at}
	if title := s.Name + s.Description; title != "" {
		if s.Name != "" {
			title = s.Name
		}
		rows = append(rows, transcript.Entry{Type: transcript.EntryTitle, Title: title})
	}
	if s.Input+s.Output > 0 {
		rows = append(rows, transcript.Entry{Type: transcript.EntryTotals, Message: &transcript.EntryMessage{Usage: &transcript.EntryUsage{
			Input: max(s.Input-s.CacheRead-s.CacheWrite, 0), Output: s.Output, CacheRead: s.CacheRead, CacheWrite: s.CacheWrite,
		}}})
	}
	return rows
}

func (m *message) rows(id string) []transcript.Entry {
	if text, ok := m.ID.(string); ok && id == "" {
		id = text
	}
	at := transcript.Entry{Type: m.Role, UUID: id}
	if seconds := max(m.Time, m.Created); seconds > 0 {
		at.Time = transcript.Milliseconds(seconds)
	}
	row := at
	row.Message = &transcript.EntryMessage{}
	row.Meta = m.Role == transcript.EntryUser && m.Metadata.Visible != nil && !*m.Metadata.Visible
	var results []transcript.Entry
	for _, b := range append(m.Stored, m.Content...) {
		switch b.Type {
		case "text":
			row.Message.Content = append(row.Message.Content, transcript.TextBlock(b.Text))
		case "thinking":
			row.Message.Content = append(row.Message.Content, transcript.ThinkingBlock(b.Thinking))
		case "image":
			row.Message.Content = append(row.Message.Content, transcript.ImageBlock())
		case "toolRequest", "frontendToolRequest":
			row.Message.Content = append(row.Message.Content, transcript.UseBlock(b.ID, b.Call.Value.Name, b.Call.Value.Arguments))
		case "toolResponse":
			results = append(results, b.result(transcript.Entry{Time: at.Time}))
		}
	}
	if len(row.Message.Content) == 0 {
		return results
	}
	return append(results, row)
}

func (b *block) result(at transcript.Entry) transcript.Entry {
	var value struct {
		Content json.RawMessage `json:"content"`
		Failed  bool            `json:"isError"`
	}
	content := b.Result.Value
	if transcript.Decode(content, &value) {
		content = value.Content
	}
	failed := value.Failed || b.Result.Status == "error"
	if len(content) == 0 {
		content = transcript.String(b.Result.Error)
	}
	return transcript.ResultRow(at, b.ID, content, failed, nil)
}
