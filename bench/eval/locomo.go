package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"strandline/internal/recall"
)

// LoCoMo's conversations become sessions, one archive per conversation: lines of
// the first person become prompts, lines of the second replies. A question counts
// if at least one of its evidence lines exists.
const (
	locomoNote = "turn level, one index for each conversation"
	fitParts   = 5 // conversations 1 to 5 may be fitted on
)

type locomoSample struct {
	Conversation map[string]json.RawMessage `json:"conversation"`
	QA           []struct {
		Question string   `json:"question"`
		Category int      `json:"category"`
		Evidence []string `json:"evidence"`
	} `json:"qa"`
}

type locomoLine struct {
	Speaker string `json:"speaker"`
	ID      string `json:"dia_id"`
	Text    string `json:"text"`
	Caption string `json:"blip_caption"`
}

// locomo reads the set from its file and makes an archive of each conversation
// below dir.
func locomo(ctx context.Context, path, dir string) (*set, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read LoCoMo: %w", err)
	}
	var samples []locomoSample
	if err := json.Unmarshal(data, &samples); err != nil {
		return nil, fmt.Errorf("read LoCoMo: %w", err)
	}
	s := &set{name: "LoCoMo", note: locomoNote}
	for i := range samples {
		g, err := samples[i].group(ctx, filepath.Join(dir, fmt.Sprint(i+1)), i)
		if err != nil {
			return nil, err
		}
		s.groups = append(s.groups, g)
	}
	return s, nil
}

func (c *locomoSample) group(ctx context.Context, dir string, no int) (group, error) {
	talks, err := c.talks(no)
	if err != nil {
		return group{}, err
	}
	where, err := write(filepath.Join(dir, "client"), talks)
	if err != nil {
		return group{}, err
	}
	w, err := build(ctx, filepath.Join(dir, "home"), filepath.Join(dir, "client"))
	if err != nil {
		return group{}, err
	}
	return group{
		world: w, questions: c.questions(no, where),
		answers: func(h recall.Hit) []string { return where.at(h.Session, h.LineFrom, h.LineTo) },
	}, nil
}

func (c *locomoSample) talks(no int) ([]talk, error) {
	var first string
	if err := json.Unmarshal(c.Conversation["speaker_a"], &first); err != nil {
		return nil, fmt.Errorf("read LoCoMo's speakers: %w", err)
	}
	var talks []talk
	for n := 1; ; n++ {
		key := fmt.Sprintf("session_%d", n)
		date, ok := c.Conversation[key+"_date_time"]
		if !ok && c.Conversation[key] == nil {
			return talks, nil
		}
		t := talk{name: fmt.Sprintf("locomo/%d/%d", no, n), cwd: "/home/dev/talk", start: locomoTime(date)}
		var said []locomoLine
		if c.Conversation[key] != nil {
			if err := json.Unmarshal(c.Conversation[key], &said); err != nil {
				return nil, fmt.Errorf("read LoCoMo's %s: %w", key, err)
			}
		}
		for _, l := range said {
			text := l.Speaker + ": " + l.Text
			if l.Caption != "" {
				text += " [shares " + l.Caption + "]"
			}
			t.lines = append(t.lines, line{id: l.ID, text: text, reply: l.Speaker != first})
		}
		talks = append(talks, t)
	}
}

// locomoTime reads "1:56 pm on 8 May, 2023".
func locomoTime(raw json.RawMessage) time.Time {
	var s string
	if err := json.Unmarshal(raw, &s); err == nil {
		if t, err := time.Parse("3:04 pm on 2 January, 2006", s); err == nil {
			return t
		}
	}
	return time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
}

func (c *locomoSample) questions(no int, where places) []question {
	known := map[string]bool{}
	for _, all := range where {
		for _, p := range all {
			known[p.id] = true
		}
	}
	// Evidence is written "D1:3", but also "D:1:03" and several in one string.
	evidence := regexp.MustCompile(`D:?(\d+):0*(\d+)`)
	half := "conversations 1-5 (fitted on)"
	if no >= fitParts {
		half = "conversations 6-10"
	}
	categories := [...]string{1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
	var out []question
	for i, q := range c.QA {
		gold := map[string]bool{}
		for _, m := range evidence.FindAllStringSubmatch(strings.Join(q.Evidence, " "), -1) {
			if id := "D" + m[1] + ":" + m[2]; known[id] {
				gold[id] = true
			}
		}
		if len(gold) == 0 {
			continue
		}
		out = append(out, question{
			id: fmt.Sprintf("%d/%d", no+1, i), text: q.Question, gold: gold,
			parts: []string{"all", half, categories[q.Category]},
		})
	}
	return out
}

// locomoParts are the rows of the table in their order.
func locomoParts() []string {
	return []string{"all", "conversations 1-5 (fitted on)", "conversations 6-10", "single-hop", "multi-hop", "temporal", "open-domain", "adversarial"}
}
