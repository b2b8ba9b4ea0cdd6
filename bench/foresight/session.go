package foresight

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// Session is a transcript, read for what each of its rows names.
type Session struct {
	ID   string
	rows []row
}

type row struct {
	line     int
	boundary bool
	summary  string // the client's
	counted  bool   // a message of the main conversation
	size     int    // bytes of its text
	names    map[string]bool
	used     map[string]bool // names in words and calls, nil for rows of the client itself
}

// Read reads a transcript. Invalid lines are skipped.
func Read(path string, r *Ruler) (*Session, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &Session{ID: strings.TrimSuffix(filepath.Base(path), ".jsonl")}
	for line := 0; len(data) > 0; line++ {
		raw, rest, _ := bytes.Cut(data, []byte{'\n'})
		data = rest
		if x, ok := readRow(raw, r); ok {
			x.line = line
			s.rows = append(s.rows, x)
		}
	}
	return s, nil
}

// maxText is the number of bytes read of one content block.
const maxText = 200_000

func readRow(raw []byte, r *Ruler) (row, bool) {
	var in struct {
		Type             string
		Subtype          string
		IsSidechain      bool
		IsMeta           bool
		IsCompactSummary bool
		Message          struct{ Content any }
	}
	if json.Unmarshal(raw, &in) != nil {
		return row{}, false
	}
	x := row{boundary: in.Type == "system" && in.Subtype == "compact_boundary"}
	if in.Type != "user" && in.Type != "assistant" {
		return x, x.boundary
	}
	x.counted, x.names = true, map[string]bool{}
	for _, b := range blocksOf(in.Message.Content) {
		if in.IsCompactSummary {
			x.summary += b.text + "\n"
		}
		x.size += len(b.text)
		found := map[string]bool{}
		r.Specifics(b.text[:min(len(b.text), maxText)], found)
		for s := range found {
			x.names[s] = !in.IsSidechain
			if !b.result && !in.IsSidechain && !in.IsMeta {
				if x.used == nil {
					x.used = map[string]bool{}
				}
				x.used[s] = true
			}
		}
	}
	if in.IsSidechain {
		x.names = nil
	}
	return x, true
}

type block struct {
	text   string
	result bool // of a tool
}

func blocksOf(content any) []block {
	if s, ok := content.(string); ok {
		return []block{{text: s}}
	}
	list, _ := content.([]any)
	var all []block
	for _, e := range list {
		b, _ := e.(map[string]any)
		switch b["type"] {
		case "text":
			s, _ := b["text"].(string)
			all = append(all, block{text: s})
		case "tool_use":
			name, _ := b["name"].(string)
			all = append(all, block{text: name + " " + texts(b["input"])})
		case "tool_result":
			all = append(all, block{text: texts(b["content"]), result: true})
		}
	}
	return all
}

// texts returns all strings within a JSON value, one a line.
func texts(v any) string {
	var b strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\n")
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(v)
	return strings.TrimSuffix(b.String(), "\n")
}

// Cut is a position in a session with the specifics needed after it.
type Cut struct {
	Session string
	Line    int    // of the transcript, 0-based; earlier lines are known
	Summary string // the client's own, "" if none
	Needed  map[string]float64
}

// enough is how many specifics have to be needed for a share to say anything.
const enough = 10

// Cuts returns the compactions of a session that the client summarized.
func (s *Session) Cuts() []Cut {
	var cuts []Cut
	for i, x := range s.rows {
		if !x.boundary {
			continue
		}
		to := i + 1
		for to < len(s.rows) && !s.rows[to].boundary {
			to++
		}
		for j := i + 1; j < to; j++ {
			if s.rows[j].summary == "" {
				continue
			}
			c := s.cut(i, j+1, to)
			if c.Summary = s.rows[j].summary; len(c.Needed) >= enough {
				cuts = append(cuts, c)
			}
			break
		}
	}
	return cuts
}

// leastBefore is the minimum of text bytes before an artificial position.
const leastBefore = 60_000

// MadeUp returns simulated compactions at one to four fifths of the messages of a session that was
// never compacted.
func (s *Session) MadeUp() []Cut {
	var at []int
	for i, x := range s.rows {
		if x.boundary {
			return nil
		}
		if x.counted {
			at = append(at, i)
		}
	}
	var cuts []Cut
	for fifth := 1; fifth < 5 && len(at) > 5; fifth++ {
		i, before := at[len(at)*fifth/5], 0
		for _, x := range s.rows[:i] {
			before += x.size
		}
		if c := s.cut(i, i, len(s.rows)); before >= leastBefore && len(c.Needed) >= enough {
			cuts = append(cuts, c)
		}
	}
	return cuts
}

// cut weights the specifics that the rows before at know and the rows [from, to) use.
func (s *Session) cut(at, from, to int) Cut {
	knew, n := map[string]float64{}, 0.0
	for _, x := range s.rows[:at] {
		if x.counted {
			n++
		}
		for name := range x.names {
			knew[name]++
		}
	}
	c := Cut{Session: s.ID, Line: s.rows[at].line, Needed: map[string]float64{}}
	for _, x := range s.rows[from:to] {
		for name := range x.used {
			if k := knew[name]; k > 0 {
				c.Needed[name] = math.Log(1 + n/k)
			}
		}
	}
	return c
}

// Share returns the weighted share of needed specifics that a text conveys.
func (c Cut) Share(r *Ruler, block string) float64 {
	have := r.Conveyed(block)
	var sum, total float64
	for s, w := range c.Needed {
		total += w
		if have[s] {
			sum += w
		}
	}
	return sum / total
}
