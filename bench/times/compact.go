package times

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	goalCompact = 60 * time.Millisecond
	// contextTokens is the size of the compacted context; seven characters are
	// two tokens.
	contextTokens = 170_000
	contextBytes  = contextTokens * 7 / 2
)

// errNoAnswer reports a compaction without messages.
var errNoAnswer = errors.New("no new conversation")

// message is a message as the client's plugin sends it.
type message struct {
	Role    string       `json:"role"`
	Text    string       `json:"text"`
	Uses    []toolUse    `json:"toolUses"`
	Results []toolResult `json:"toolResults,omitempty"`
}

type toolUse struct {
	ID    string          `json:"tool_use_id"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

type toolResult struct {
	ID      string `json:"tool_use_id"`
	Text    string `json:"text"`
	IsError bool   `json:"isError"`
}

// Compact measures the compaction of a full context as a whole process, including
// a capture without new rows.
func (s *Suite) Compact(ctx context.Context) error {
	w, err := NewWorld(filepath.Join(s.Dir, "compact"))
	if err != nil {
		return err
	}
	defer os.RemoveAll(w.Dir)
	if _, err := s.invent(w, hookSession, 7, 4e6); err != nil {
		return err
	}
	if _, err := w.Run(ctx, nil, s.Programs.Strandline, "import", w.Projects()); err != nil {
		return err
	}
	messages, err := conversation(w.Transcript(hookSession))
	if err != nil {
		return err
	}
	payload, err := json.Marshal(map[string]any{
		"session": hookSession, "transcript": w.Transcript(hookSession), "cwd": w.Home(), "trigger": "manual",
		"tokens": contextTokens, "window": 200_000, "messages": messages,
	})
	if err != nil {
		return fmt.Errorf("encode the conversation: %w", err)
	}
	var sample Times
	var answer struct {
		Messages []json.RawMessage `json:"messages"`
	}
	size := 0
	for i := range s.Runs + warmUps {
		r, err := w.Run(ctx, payload, s.Programs.Strandline, "compact")
		if err != nil {
			return err
		}
		if size = len(r.Stdout); json.Unmarshal(r.Stdout, &answer) != nil || len(answer.Messages) < 2 || len(r.Stderr) > 0 {
			return fmt.Errorf("%w: %s", errNoAnswer, r.Stderr)
		}
		if i >= warmUps {
			sample.Add(r)
		}
	}
	s.Report.AddGoal(fmt.Sprintf("compact %d messages, %d tokens", len(messages), contextTokens), ms(sample.Wall.Median()), spread(sample), "60 ms", sample.Wall.Median() <= goalCompact)
	s.Report.Add("… size of the new conversation's record", mb(int64(size)), "JSON")
	return nil
}

// conversation reads the newest messages of a transcript that fill a context.
func conversation(path string) ([]message, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the transcript: %w", err)
	}
	defer f.Close()
	var all []message
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var row struct {
			Type    string `json:"type"`
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("read the transcript: %w", err)
		}
		if row.Type == "user" || row.Type == "assistant" {
			all = append(all, content(row.Type, row.Message.Content))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	size, from := 0, len(all)
	for from > 0 && size < contextBytes {
		from--
		size += all[from].size()
	}
	return all[from:], nil
}

func (m message) size() int {
	n := len(m.Text)
	for _, u := range m.Uses {
		n += len(u.Input)
	}
	for _, r := range m.Results {
		n += len(r.Text)
	}
	return n
}

// content converts a row's content, a text or a list of blocks, to a message.
func content(role string, raw json.RawMessage) message {
	m := message{Role: role, Uses: []toolUse{}}
	if json.Unmarshal(raw, &m.Text) == nil {
		return m
	}
	var blocks []struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		ToolUseID string          `json:"tool_use_id"`
		Content   json.RawMessage `json:"content"`
		IsError   bool            `json:"is_error"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return m
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			m.Text += b.Text
		case "tool_use":
			m.Uses = append(m.Uses, toolUse{b.ID, b.Name, b.Input})
		case "tool_result":
			r := toolResult{ID: b.ToolUseID, IsError: b.IsError}
			if json.Unmarshal(b.Content, &r.Text) != nil {
				r.Text = strings.TrimSpace(string(b.Content))
			}
			m.Results = append(m.Results, r)
		}
	}
	return m
}
