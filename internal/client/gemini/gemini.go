// Package gemini translates the transcripts of Gemini CLI: JSON lines of messages, in
// which a line with the id of an earlier one takes its place, $rewindTo removes the
// messages from an id on, and $set.messages replaces them all, as after a compaction.
// Older versions wrote the whole session as one JSON file.
package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"strandline/internal/transcript"
)

// Client describes Gemini CLI.
func Client() transcript.Client {
	return transcript.Client{
		Name: "gemini", Title: "Gemini CLI", New: New, Open: open, Resume: []string{"gemini", "--resume"}, ResumeID: resumeID, Hooks: hooks(), Setup: setup(),
		Start: []string{"gemini", "--prompt-interactive"},
		Roots: func(getenv func(string) string, home string) []string {
			if dir := getenv("GEMINI_CLI_HOME"); dir != "" {
				home = dir
			}
			return transcript.Folders("", home, ".gemini", "tmp")
		},
		File: func(path string) (string, bool) { // chats/session-<time>-<id>.jsonl
			name := filepath.Base(path)
			stem := strings.TrimSuffix(strings.TrimSuffix(name, ".jsonl"), ".json")
			id := stem[strings.LastIndexByte(stem, '-')+1:]
			return id, stem != name && strings.HasPrefix(name, "session-") && filepath.Base(filepath.Dir(path)) == "chats"
		},
		Place: func(source, _ string) string {
			parts := strings.Split(filepath.ToSlash(source), "/")
			return "tmp/" + strings.Join(parts[max(len(parts)-3, 0):], "/")
		},
	}
}

// open returns the lines of a transcript; a whole-file one as a line per message.
func open(path string) (*os.File, error) {
	if filepath.Ext(path) == ".json" {
		return transcript.OpenList(path, "messages")
	}
	f, err := os.Open(path)
	if err == nil && isStub(f) {
		return nil, errors.Join(&fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}, f.Close())
	}
	return f, err
}

// maxStub is the most bytes of a stub: the facts about a machine and its project.
const maxStub = 1 << 20

// isStub reports whether a file has no row of a conversation yet. The client leaves one when it
// resumes a session, under the session's name with the present time, and goes on in the first
// file.
func isStub(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() > maxStub {
		return false
	}
	head, err := io.ReadAll(io.NewSectionReader(f, 0, maxStub))
	for line := range bytes.Lines(head) {
		var r row
		if err != nil || transcript.Decode(line, &r) && (r.ID != "" || r.RewindTo != nil || len(r.Messages) > 0 || r.Set != nil && len(r.Set.Messages) > 1) {
			return false
		}
	}
	return true
}

// resumeID returns the whole id of a session. The name of its file has the first part.
func resumeID(first []byte) string {
	var r row
	transcript.Decode(first, &r)
	return r.Session
}

// New returns a translator of one transcript.
func New() transcript.Translator { return &Translator{} }

// Limits of the state.
const (
	maxChain = 64
	maxSeen  = 256
)

// Translator translates rows. The fields are its state.
type Translator struct {
	// Chain holds the ids of the last messages in the conversation, oldest first.
	Chain []string
	// Seen holds hashes of the texts, calls and results that were translated.
	Seen []uint32
}

// Primed implements transcript.Primed.
func (t *Translator) Primed() { t.Chain, t.Seen = nil, nil }

// snapshot begins the summary of a compaction.
const snapshot = "<state_snapshot>"

// facts begins the first message of a conversation, with the client's facts about the machine.
const facts = "<session_context>"

// start is the parent of the first message.
const start = "start"

type row struct {
	message
	Session  string   `json:"sessionId"`
	Start    string   `json:"startTime"`
	Folders  []string `json:"directories"`
	RewindTo *string  `json:"$rewindTo"`
	Set      *struct {
		Messages []message `json:"messages"`
		Summary  string    `json:"summary"`
	} `json:"$set"`
	Messages []message `json:"messages"`
}

type message struct {
	ID        string          `json:"id"`
	Timestamp any             `json:"timestamp"`
	Type      string          `json:"type"`
	Content   json.RawMessage `json:"content"`
	Model     string          `json:"model"`
	Thoughts  []struct {
		Subject     string `json:"subject"`
		Description string `json:"description"`
	} `json:"thoughts"`
	Tokens *struct {
		Input    int64 `json:"input"`
		Output   int64 `json:"output"`
		Cached   int64 `json:"cached"`
		Thoughts int64 `json:"thoughts"`
	} `json:"tokens"`
	Calls []call `json:"toolCalls"`
}

type call struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
	Status string          `json:"status"`
	Result json.RawMessage `json:"result"`
}

// Translate implements transcript.Translator.
func (t *Translator) Translate(line []byte) []transcript.Entry {
	var r row
	if !transcript.Decode(line, &r) {
		return nil
	}
	switch {
	case r.RewindTo != nil:
		if i := slices.Index(t.Chain, *r.RewindTo); i >= 0 {
			t.Chain = t.Chain[:i]
		} else {
			t.Chain = nil
		}
		return nil
	case r.Set != nil:
		rows := t.replace(r.Set.Messages)
		if r.Set.Summary != "" {
			rows = append(rows, transcript.Entry{Type: transcript.EntryTitle, Title: r.Set.Summary})
		}
		return rows
	case r.Type != "" && r.ID != "":
		return t.message(&r.message, false)
	case r.Session != "":
		at := transcript.Entry{Type: transcript.EntryOther, Session: r.Session}
		if r.Start != "" {
			at.Time = r.Start
		}
		if len(r.Folders) > 0 {
			at.Cwd = r.Folders[0]
		}
		return append([]transcript.Entry{at}, t.replace(r.Messages)...)
	}
	return nil
}

// replace translates the messages that take the place of the conversation: those that are
// new. A snapshot of the state among them is the summary of a compaction.
func (t *Translator) replace(messages []message) (rows []transcript.Entry) {
	if len(messages) > 0 {
		t.Chain = nil
	}
	compacted := false
	for i := range messages {
		m := &messages[i]
		body := textOf(m.Content)
		if m.Type == "user" && strings.Contains(body, snapshot) {
			if t.first("text", m.Type, body) {
				at := transcript.Entry{UUID: m.ID, Time: m.Timestamp}
				rows = append(rows, transcript.Compaction(at, transcript.EntryCompact{Trigger: "auto"}, body)...)
			}
			t.link(m.ID)
			compacted = true
			continue
		}
		if compacted && m.Type == "gemini" && m.Tokens == nil && len(m.Calls) == 0 {
			continue // the client's own answer to the snapshot
		}
		rows = append(rows, t.message(m, true)...)
	}
	return rows
}

// message translates a message, the new part of one that is written again. In a copy of the
// conversation, a text that was seen is not new under another id.
func (t *Translator) message(m *message, copied bool) []transcript.Entry {
	body := textOf(m.Content)
	if m.Type == "user" && strings.HasPrefix(body, facts) {
		return []transcript.Entry{{Type: transcript.EntryOther, Time: m.Timestamp, Cwd: folderIn(body)}}
	}
	at := transcript.Entry{Type: transcript.EntryOther, UUID: m.ID, Parent: t.link(m.ID), Time: m.Timestamp}
	known := !t.first("text", m.Type, body) && copied
	fresh := t.first("message", m.ID, body) && !known
	switch m.Type {
	case "user":
		if !fresh {
			return nil
		}
		at.Type, at.Message = transcript.EntryUser, &transcript.EntryMessage{Content: Blocks(m.Content)}
	case "gemini":
		return t.response(at, m, fresh)
	default: // info, warning, error
		at.Type, at.Subtype, at.Content = transcript.EntrySystem, m.Type, body
	}
	return []transcript.Entry{at}
}

// folderIn returns the first working folder that the client's facts name.
func folderIn(facts string) string {
	_, rest, _ := strings.Cut(facts, "Workspace Directories:**\n")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimPrefix(strings.TrimSpace(line), "- ")
}

// response translates a response with its calls and their results.
func (t *Translator) response(at transcript.Entry, m *message, fresh bool) []transcript.Entry {
	at.Type, at.Message = transcript.EntryAssistant, &transcript.EntryMessage{Model: m.Model}
	if u := m.Tokens; u != nil {
		at.Message.Usage = &transcript.EntryUsage{Input: max(u.Input-u.Cached, 0), Output: u.Output + u.Thoughts, CacheRead: u.Cached}
	}
	for _, thought := range m.Thoughts {
		if t.first("thought", m.ID, thought.Subject+thought.Description) {
			at.Message.Content = append(at.Message.Content, transcript.ThinkingBlock(thought.Subject+"\n"+thought.Description))
		}
	}
	if fresh {
		at.Message.Content = append(at.Message.Content, Blocks(m.Content)...)
	}
	rows := []transcript.Entry{at}
	for i, c := range m.Calls {
		if c.ID == "" {
			c.ID = fmt.Sprint(m.ID, "#", i)
		}
		if t.first("call", c.ID, "") {
			rows[0].Message.Content = append(rows[0].Message.Content, transcript.UseBlock(c.ID, c.Name, c.Args))
		}
		if done := c.Status == "success" || c.Status == "error" || c.Status == "cancelled"; done && t.first("result", c.ID, "") {
			rows = append(rows, result(at, &c))
		}
	}
	if len(rows) == 1 && len(rows[0].Message.Content) == 0 && m.Tokens == nil {
		return nil // a copy in a resumed session
	}
	return rows
}

// result translates the result of a call.
func result(at transcript.Entry, c *call) transcript.Entry {
	var parts []part
	body, failed := "", c.Status != "success"
	if transcript.DecodeList(c.Result, &parts) {
		for _, p := range parts {
			text, bad := Response(p.Response.Response)
			body += text
			failed = failed || bad
		}
	} else {
		body = transcript.Text(c.Result)
	}
	at.UUID, at.Parent, at.Message = "", "", nil
	return ResultRow(at, c.ID, body, failed)
}

// ResultRow returns a row with a result. The shell's text ends with its exit code.
func ResultRow(at transcript.Entry, id, body string, failed bool) transcript.Entry {
	facts := &transcript.EntryResult{ExitCode: transcript.CodeAfter([]byte(body), "Exit Code: ")}
	return transcript.ResultRow(at, id, transcript.String(body), failed, facts)
}

// link appends a message to the conversation and returns the one before it.
func (t *Translator) link(id string) string {
	parent := start
	if i := slices.Index(t.Chain, id); i > 0 {
		return t.Chain[i-1]
	} else if i < 0 {
		if n := len(t.Chain); n > 0 {
			parent = t.Chain[n-1]
		}
		t.Chain = append(t.Chain, id)
		t.Chain = t.Chain[max(len(t.Chain)-maxChain, 0):]
	}
	return parent
}

// first reports whether something is met for the first time.
func (t *Translator) first(kind, id, content string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(kind + "\x00" + id + "\x00" + content)) // a hash accepts everything
	key := h.Sum32()
	if slices.Contains(t.Seen, key) {
		return false
	}
	t.Seen = append(t.Seen, key)
	t.Seen = t.Seen[max(len(t.Seen)-maxSeen, 0):]
	return true
}
