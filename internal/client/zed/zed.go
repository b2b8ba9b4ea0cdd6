// Package zed reads the agent threads of Zed: rows of a database, each with a whole
// thread as JSON, which is compressed and written again after each change.
package zed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"strandline/internal/transcript"
)

// maxThread limits a decompressed thread, in bytes.
const maxThread = 1 << 30

// Client describes Zed.
func Client() transcript.Client {
	db := &transcript.Database{
		Match:   func(path string) bool { return filepath.Base(path) == "threads.db" },
		Version: "select group_concat(name) from pragma_table_info('threads')",
		Sessions: []string{
			"select id, parent_id, folder_paths, coalesce(created_at, updated_at), updated_at, octet_length(data) from threads",
			"select id, null, null, updated_at, updated_at, octet_length(data) from threads",
		},
		Rows: rows,
	}
	return transcript.Client{
		Name: "zed", Title: "Zed", New: New, Database: db,
		Roots: func(getenv func(string) string, home string) []string {
			return append(transcript.Folders(getenv("XDG_DATA_HOME"), home, ".local/share", "zed/threads"),
				transcript.Folders("", home, "Library/Application Support/Zed", "threads")...)
		},
		File: func(path string) (string, bool) {
			file, session := transcript.SplitStored(path)
			return transcript.StoredID(session), session != "" && db.Match(file)
		},
	}
}

// rows puts the thread without its messages, and each message.
func rows(q transcript.Query, session string, put func(id string, members []byte, done bool) error) error {
	return q.Each(func(c transcript.Columns) error {
		data := []byte(c.Text(0))
		if c.Text(1) == "zstd" {
			from, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1))
			if err != nil {
				return fmt.Errorf("decompress a thread: %w", err)
			}
			defer from.Close()
			if data, err = io.ReadAll(io.LimitReader(from, maxThread)); err != nil {
				return fmt.Errorf("decompress a thread: %w", err)
			}
		}
		var thread map[string]json.RawMessage
		var messages []json.RawMessage
		if err := json.Unmarshal(data, &thread); err != nil {
			return fmt.Errorf("parse a thread: %w", err)
		}
		transcript.DecodeList(thread["messages"], &messages)
		head := append(append([]byte(`"session":`), c.Object(2, "data")...), `,"thread":{`...)
		for i, name := range slices.DeleteFunc(slices.Sorted(maps.Keys(thread)), func(name string) bool { return name == "messages" }) {
			if i > 0 {
				head = append(head, ',')
			}
			head = append(append(append(head, transcript.String(name)...), ':'), transcript.OneLine(thread[name])...)
		}
		if err := put("session", append(head, '}'), true); err != nil {
			return err
		}
		prompt, n := "", 0
		for _, m := range messages {
			if id := promptID(m); id != "" {
				prompt, n = id, 0
			}
			id := fmt.Sprint(prompt, ".", n)
			n++
			if err := put(id, append([]byte(`"message":`), transcript.OneLine(m)...), true); err != nil {
				return err
			}
		}
		return nil
	}, "select data, data_type, * from threads where id = ?", session)
}

// promptID returns the id of a message of the user, without the characters that an id of a row cannot have.
func promptID(message json.RawMessage) string {
	var m struct {
		User struct {
			ID string `json:"id"`
		} `json:"User"`
		Old  int64  `json:"id"`
		Role string `json:"role"`
	}
	if !transcript.Decode(message, &m) {
		return ""
	}
	if m.Role != "" {
		return fmt.Sprint(m.Old)
	}
	return strings.Map(func(r rune) rune {
		if r == '"' || r == '\\' || r < ' ' {
			return '.'
		}
		return r
	}, m.User.ID)
}

// New returns a translator of one thread.
func New() transcript.Translator { return &Translator{} }

// Translator translates lines. The fields are its state.
type Translator struct {
	Model string
	// Shown is the last message of the model, Blocks how many of its content blocks were
	// translated, and Results the calls whose results were.
	Shown   string
	Blocks  int
	Results []string
}

type line struct {
	transcript.StoredRow
	Session *struct {
		ID      string `json:"id"`
		Parent  string `json:"parent_id"`
		Folders string `json:"folder_paths"`
		Summary string `json:"summary"`
		Created string `json:"created_at"`
		Updated string `json:"updated_at"`
	} `json:"session"`
	Thread struct {
		Title  string `json:"title"`
		Tokens *usage `json:"cumulative_token_usage"`
		Model  struct {
			Model string `json:"model"`
		} `json:"model"`
	} `json:"thread"`
	Message json.RawMessage `json:"message"`
}

type usage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

// message is a message: of the user or the model or, of old threads, with a role.
type message struct {
	User *struct {
		Content []json.RawMessage `json:"content"`
	} `json:"User"`
	Agent *struct {
		Content []json.RawMessage `json:"content"`
		Results map[string]result `json:"tool_results"`
	} `json:"Agent"`

	Role     string    `json:"role"`
	Segments []segment `json:"segments"`
	Uses     []use     `json:"tool_uses"`
	Results  []result  `json:"tool_results"`
}

type segment struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type use struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type result struct {
	ID      string          `json:"tool_use_id"`
	Failed  bool            `json:"is_error"`
	Content json.RawMessage `json:"content"`
}

// Translate implements transcript.Translator.
func (t *Translator) Translate(data []byte) []transcript.Entry {
	var l line
	if !transcript.Decode(data, &l) || l.Removed {
		return nil
	}
	if l.Session != nil {
		return t.thread(&l)
	}
	var m message
	if !transcript.Decode(l.Message, &m) {
		return nil
	}
	at := transcript.Entry{UUID: l.Row, Message: &transcript.EntryMessage{}}
	switch {
	case m.User != nil && l.Version < 2:
		at.Type = transcript.EntryUser
		for _, b := range m.User.Content {
			if block, ok := content(b); ok {
				at.Message.Content = append(at.Message.Content, block)
			}
		}
	case m.Agent != nil:
		return t.response(at, &m, l.Version)
	case m.Role != "" && l.Version < 2:
		return t.old(at, &m)
	}
	if len(at.Message.Content) == 0 {
		return nil
	}
	return []transcript.Entry{at}
}

func (t *Translator) thread(l *line) []transcript.Entry {
	s := l.Session
	t.Model = l.Thread.Model.Model
	dir, _, _ := strings.Cut(s.Folders, "\n")
	at := transcript.Entry{Type: transcript.EntryOther, Session: transcript.StoredID(s.ID), Cwd: dir}
	if when := s.Created + s.Updated; when != "" {
		at.Time = s.Updated
		if s.Created != "" {
			at.Time = s.Created
		}
	}
	if s.Parent != "" {
		at.Session, at.Agent = transcript.StoredID(s.Parent), at.Session
	}
	title := l.Thread.Title
	if title == "" {
		title = s.Summary
	}
	rows := []transcript.Entry{at, {Type: transcript.EntryTitle, Title: title}}
	if u := l.Thread.Tokens; u != nil {
		rows = append(rows, transcript.Entry{Type: transcript.EntryTotals, Message: &transcript.EntryMessage{
			Usage: &transcript.EntryUsage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite},
		}})
	}
	return rows
}

// response translates what is new in a message of the model, which grows with its calls.
func (t *Translator) response(at transcript.Entry, m *message, version int) []transcript.Entry {
	if t.Shown != at.UUID || version < 2 {
		if version > 1 {
			return nil
		}
		t.Shown, t.Blocks, t.Results = at.UUID, 0, nil
	}
	at.Type, at.Message.Model, at.Message.ID = transcript.EntryAssistant, t.Model, at.UUID
	blocks := m.Agent.Content
	for _, b := range blocks[min(t.Blocks, len(blocks)):] {
		if block, ok := content(b); ok {
			at.Message.Content = append(at.Message.Content, block)
		}
	}
	t.Blocks = max(t.Blocks, len(blocks))
	var rows []transcript.Entry
	if len(at.Message.Content) > 0 {
		rows = append(rows, at)
	}
	for _, id := range slices.Sorted(maps.Keys(m.Agent.Results)) {
		if !slices.Contains(t.Results, id) {
			t.Results = append(t.Results, id)
			rows = append(rows, m.Agent.Results[id].row(id))
		}
	}
	return rows
}

// old translates a message of a thread of old versions.
func (t *Translator) old(at transcript.Entry, m *message) []transcript.Entry {
	at.Type = m.Role
	for _, s := range m.Segments {
		switch s.Type {
		case "text":
			at.Message.Content = append(at.Message.Content, transcript.TextBlock(s.Text))
		case "thinking":
			at.Message.Content = append(at.Message.Content, transcript.ThinkingBlock(s.Text))
		}
	}
	for _, u := range m.Uses {
		at.Message.Content = append(at.Message.Content, transcript.UseBlock(u.ID, u.Name, u.Input))
	}
	var rows []transcript.Entry
	if len(at.Message.Content) > 0 {
		if m.Role == transcript.EntryAssistant {
			at.Message.Model = t.Model
		}
		rows = append(rows, at)
	}
	for _, r := range m.Results {
		rows = append(rows, r.row(r.ID))
	}
	return rows
}

func (r result) row(id string) transcript.Entry {
	var text struct {
		Text *string `json:"Text"`
	}
	var list []json.RawMessage
	body := transcript.Text(r.Content)
	switch {
	case transcript.Decode(r.Content, &text) && text.Text != nil:
		body = *text.Text
	case transcript.DecodeList(r.Content, &list):
		var all []string
		for _, b := range list {
			if block, ok := content(b); ok && block.Text != nil {
				all = append(all, *block.Text)
			}
		}
		body = strings.Join(all, "\n")
	}
	facts := &transcript.EntryResult{ExitCode: transcript.CodeAfter([]byte(body), "failed with exit code ")}
	return transcript.ResultRow(transcript.Entry{}, id, transcript.String(body), r.Failed, facts)
}

// content translates a content block, an object with one member that names its kind.
func content(raw json.RawMessage) (b transcript.EntryBlock, ok bool) {
	var block struct {
		Text     *string `json:"Text"`
		Thinking *struct {
			Text string `json:"text"`
		} `json:"Thinking"`
		Use     *use `json:"ToolUse"`
		Mention *struct {
			Content string `json:"content"`
		} `json:"Mention"`
		Image json.RawMessage `json:"Image"`
	}
	if !transcript.Decode(raw, &block) {
		return b, false
	}
	switch {
	case block.Text != nil:
		return transcript.TextBlock(*block.Text), true
	case block.Thinking != nil:
		return transcript.ThinkingBlock(block.Thinking.Text), true
	case block.Use != nil:
		return transcript.UseBlock(block.Use.ID, block.Use.Name, block.Use.Input), true
	case block.Mention != nil && block.Mention.Content != "":
		return transcript.TextBlock(block.Mention.Content), true
	case block.Image != nil:
		return transcript.ImageBlock(), true
	}
	return b, false
}
