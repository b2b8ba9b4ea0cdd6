// Package continuecli translates the sessions of Continue, in the terminal and in editors: a
// JSON file with the history, which is rewritten after each message and holds no times.
package continuecli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"strandline/internal/transcript"
)

// sessionID is the form of a session's id. Other programs have folders of this name too.
var sessionID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`) })

// Client describes Continue.
func Client() transcript.Client {
	return transcript.Client{
		Name: "continue", Title: "Continue", New: New, Open: open,
		Roots: func(getenv func(string) string, home string) []string {
			return transcript.Folders(getenv("CONTINUE_GLOBAL_DIR"), home, ".continue", "sessions")
		},
		File: func(path string) (string, bool) { // sessions/<id>.json
			id, ok := strings.CutSuffix(filepath.Base(path), ".json")
			return id, ok && filepath.Base(filepath.Dir(path)) == "sessions" && sessionID().MatchString(id)
		},
	}
}

// open returns the lines of a session. The time of its start is in the list of sessions.
func open(path string) (*os.File, error) {
	var list []struct {
		ID      string `json:"sessionId"`
		Created string `json:"dateCreated"`
	}
	data, err := os.ReadFile(filepath.Join(filepath.Dir(path), "sessions.json"))
	if err != nil || !transcript.DecodeList(data, &list) {
		return transcript.OpenList(path, "history")
	}
	for _, s := range list {
		if s.ID+".json" == filepath.Base(path) {
			line, err := json.Marshal(s)
			if err != nil {
				return nil, err
			}
			return transcript.OpenList(path, "history", append(line, '\n'))
		}
	}
	return transcript.OpenList(path, "history")
}

// New returns a translator of one session.
func New() transcript.Translator { return &translator{} }

type translator struct{}

type row struct {
	Session string `json:"sessionId"`
	Created string `json:"dateCreated"`
	Title   string `json:"title"`
	Cwd     string `json:"workspaceDirectory"`

	Message struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Reasoning struct {
		Text string `json:"text"`
	} `json:"reasoning"`
	Calls []struct {
		ID     string `json:"toolCallId"`
		Status string `json:"status"`
		Call   struct {
			Function struct {
				Name string          `json:"name"`
				Args json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"toolCall"`
		Output []struct {
			Content string `json:"content"`
		} `json:"output"`
	} `json:"toolCallStates"`
	Summary string `json:"conversationSummary"`
}

// Translate implements transcript.Translator.
func (*translator) Translate(line []byte) []transcript.Entry {
	var r row
	if !transcript.Decode(line, &r) {
		return nil
	}
	switch r.Message.Role {
	case "":
		at := transcript.Entry{Type: transcript.EntryOther, Session: r.Session, Cwd: strings.TrimPrefix(r.Cwd, "file://")}
		if ms, err := strconv.ParseInt(r.Created, 10, 64); err == nil {
			at.Time = ms
		}
		rows := []transcript.Entry{at}
		if r.Title != "" {
			rows = append(rows, transcript.Entry{Type: transcript.EntryTitle, Title: r.Title})
		}
		return rows
	case transcript.EntryUser, transcript.EntryAssistant:
		return r.rows()
	}
	return []transcript.Entry{{Type: transcript.EntryOther}} // of the system, and results that the calls repeat
}

// rows returns the rows of a message, with its calls and their results.
func (r row) rows() (rows []transcript.Entry) {
	m := &transcript.EntryMessage{}
	if r.Reasoning.Text != "" {
		m.Content = append(m.Content, transcript.ThinkingBlock(r.Reasoning.Text))
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if transcript.DecodeList(r.Message.Content, &parts) {
		for _, p := range parts {
			if p.Text != "" {
				m.Content = append(m.Content, transcript.TextBlock(p.Text))
			}
		}
	} else if s := transcript.Text(r.Message.Content); s != "" {
		m.Content = append(m.Content, transcript.TextBlock(s))
	}
	var results []transcript.Entry
	for _, c := range r.Calls {
		m.Content = append(m.Content, transcript.UseBlock(c.ID, c.Call.Function.Name, c.Call.Function.Args))
		var out []string
		for _, o := range c.Output {
			out = append(out, o.Content)
		}
		if len(out) > 0 || c.Status == "errored" || c.Status == "canceled" {
			failed := c.Status != "" && c.Status != "done"
			results = append(results, transcript.ResultRow(transcript.Entry{}, c.ID, transcript.String(strings.Join(out, "\n")), failed, nil))
		}
	}
	rows = append(rows, transcript.Entry{Type: r.Message.Role, Message: m})
	if rows = append(rows, results...); r.Summary != "" {
		rows = append(rows, transcript.Compaction(transcript.Entry{}, transcript.EntryCompact{}, r.Summary)...)
	}
	return rows
}
