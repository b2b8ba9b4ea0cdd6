// Package amp translates the threads that Amp kept on disk until March 2026: a JSON file with
// messages in the form of the Anthropic API.
package amp

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"strandline/internal/transcript"
)

// Client describes Amp.
func Client() transcript.Client {
	return transcript.Client{
		Name: "amp", Title: "Amp", New: New,
		Open: func(path string) (*os.File, error) { return transcript.OpenList(path, "messages") },
		Roots: func(getenv func(string) string, home string) []string {
			return transcript.Folders(getenv("XDG_DATA_HOME"), home, ".local/share", "amp/threads")
		},
		File: func(path string) (string, bool) { // threads/T-<id>.json
			id, ok := strings.CutSuffix(filepath.Base(path), ".json")
			return id, ok && strings.HasPrefix(id, "T-") && filepath.Base(filepath.Dir(path)) == "threads"
		},
	}
}

// New returns a translator of one thread.
func New() transcript.Translator { return &Translator{} }

// Translator translates messages. The field is its state.
type Translator struct {
	Time any // of the last message with one, or of the thread
}

type row struct {
	Title   string `json:"title"`
	Created any    `json:"created"`
	Env     struct {
		Initial struct {
			Trees []struct {
				URI string `json:"uri"`
			} `json:"trees"`
		} `json:"initial"`
	} `json:"env"`

	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Meta    struct {
		Sent any `json:"sentAt"`
	} `json:"meta"`
	Usage *struct {
		Model      string `json:"model"`
		Time       any    `json:"timestamp"`
		Input      int64  `json:"inputTokens"`
		Output     int64  `json:"outputTokens"`
		CacheRead  int64  `json:"cacheReadInputTokens"`
		CacheWrite int64  `json:"cacheCreationInputTokens"`
	} `json:"usage"`
}

type block struct {
	transcript.EntryBlock
	Use string `json:"toolUseID"`
	Run struct {
		Status string          `json:"status"`
		Result json.RawMessage `json:"result"`
		Error  struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"run"`
}

// Translate implements transcript.Translator.
func (t *Translator) Translate(line []byte) []transcript.Entry {
	var r row
	if !transcript.Decode(line, &r) {
		return nil
	}
	if r.Role == "" {
		at := transcript.Entry{Type: transcript.EntryOther, Time: r.Created}
		if trees := r.Env.Initial.Trees; len(trees) > 0 {
			if u, err := url.Parse(trees[0].URI); err == nil && u.Scheme == "file" {
				at.Cwd = u.Path
			}
		}
		t.Time = r.Created
		return []transcript.Entry{at, {Type: transcript.EntryTitle, Title: r.Title}}
	}
	m := &transcript.EntryMessage{}
	switch {
	case r.Usage != nil:
		m.Model = r.Usage.Model
		m.Usage = &transcript.EntryUsage{Input: r.Usage.Input, Output: r.Usage.Output, CacheRead: r.Usage.CacheRead, CacheWrite: r.Usage.CacheWrite}
		if r.Usage.Time != nil {
			t.Time = r.Usage.Time
		}
	case r.Meta.Sent != nil:
		t.Time = r.Meta.Sent
	}
	at := transcript.Entry{Type: r.Role, Time: t.Time, Message: m}
	var blocks []block
	if !transcript.DecodeList(r.Content, &blocks) {
		m.Content = []transcript.EntryBlock{transcript.TextBlock(transcript.Text(r.Content))}
		return []transcript.Entry{at}
	}
	var rows []transcript.Entry
	for _, b := range blocks {
		if b.Type == "tool_result" && b.Use != "" {
			rows = append(rows, b.result(transcript.Entry{Time: t.Time}))
		} else {
			m.Content = append(m.Content, b.EntryBlock)
		}
	}
	if len(m.Content) > 0 || len(rows) == 0 {
		rows = append(rows, at)
	}
	return rows
}

// result returns the row of a tool's result.
func (b block) result(at transcript.Entry) transcript.Entry {
	var known struct {
		Output  *string `json:"output"`
		Content *string `json:"content"`
		Diff    *string `json:"diff"`
		Exit    *int    `json:"exitCode"`
	}
	failed := b.Run.Status != "done"
	content := bytes.TrimSpace(b.Run.Result)
	if transcript.Decode(content, &known) {
		for _, s := range []*string{known.Diff, known.Content, known.Output} {
			if s != nil {
				content = transcript.String(*s)
			}
		}
	}
	if failed && b.Run.Error.Message != "" {
		content = transcript.String(b.Run.Error.Message)
	}
	facts := &transcript.EntryResult{ExitCode: known.Exit}
	if known.Exit != nil && *known.Exit == -1 { // the process left none
		facts.ExitCode = nil
	}
	return transcript.ResultRow(at, b.Use, transcript.String(transcript.Text(content)), failed || known.Exit != nil && *known.Exit != 0, facts)
}
