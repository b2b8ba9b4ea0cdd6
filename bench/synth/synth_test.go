package synth

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

func options() Options {
	return Options{
		Session: "11111111-2222-4333-8444-555555555555", Cwd: "/home/dev/acme", Branch: "main", Version: "2.1.329",
		Model: "claude-opus-5-5", Start: time.Date(2026, 9, 1, 9, 0, 0, 0, time.UTC), Seed: 7, Context: 20_000,
	}
}

// row holds the fields that the tests check.
type row struct {
	Type             string
	Subtype          string
	UUID             string
	ParentUUID       *string
	LogicalParent    string `json:"logicalParentUuid"`
	IsSidechain      bool
	AgentID          string
	IsCompactSummary bool
	PromptID         string
	SessionID        string
	Timestamp        time.Time
	LeafUUID         string
	SourceUUID       string `json:"sourceToolAssistantUUID"`
	Tools            []string
	ToolUseResult    json.RawMessage
	Message          struct {
		ID         string
		Content    json.RawMessage
		StopReason string          `json:"stop_reason"`
		Usage      json.RawMessage `json:"usage"`
	}
	Meta struct {
		Trigger   string
		PreTokens int64
	} `json:"compactMetadata"`
}

// write returns the rows of what f says.
func write(t *testing.T, f func(*Session)) []row {
	t.Helper()
	var b bytes.Buffer
	s := New(&b, options())
	f(s)
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	if s.Bytes() != int64(b.Len()) || s.Lines() != bytes.Count(b.Bytes(), []byte("\n")) {
		t.Errorf("counted %d bytes and %d lines of %d and %d", s.Bytes(), s.Lines(), b.Len(), bytes.Count(b.Bytes(), []byte("\n")))
	}
	return rows(t, b.String())
}

func rows(t *testing.T, text string) []row {
	t.Helper()
	var all []row
	for line := range strings.Lines(text) {
		var r row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v\n%s", err, line)
		}
		all = append(all, r)
	}
	return all
}

// conversation leaves out rows that are state.
func conversation(all []row) []row {
	var kept []row
	for _, r := range all {
		if r.UUID != "" {
			kept = append(kept, r)
		}
	}
	return kept
}

func TestOneResponseIsOneRowPerBlock(t *testing.T) {
	all := conversation(write(t, func(s *Session) {
		s.Prompt("Why?")
		s.Think("Because.")
		s.Say("I look.")
		read := s.Use("Read", Row{}.Str("file_path", "/a"))
		list := s.Use("Bash", Row{}.Str("command", "ls"))
		s.Respond()
		s.Answer(read, "text", false, Row{}.Str("type", "text"))
		s.Answer(list, "no such file", true, nil)
		s.Say("Done.")
		s.Respond()
	}))
	if len(all) != 8 {
		t.Fatalf("%d rows, want 8", len(all))
	}
	for i, r := range all {
		if i == 0 != (r.ParentUUID == nil) || i > 0 && *r.ParentUUID != all[i-1].UUID {
			t.Errorf("row %d does not have the previous row as parent", i)
		}
		if i > 0 && r.Timestamp.Before(all[i-1].Timestamp) {
			t.Errorf("row %d is older than the previous row", i)
		}
	}
	first := all[1].Message
	for _, r := range all[1:5] {
		if r.Message.ID != first.ID || string(r.Message.Usage) != string(first.Usage) || r.Message.StopReason != "tool_use" {
			t.Errorf("the blocks of one response differ: %+v", r.Message)
		}
	}
	if all[7].Message.ID == first.ID || all[7].Message.StopReason != "end_turn" {
		t.Errorf("the second response: %+v", all[7].Message)
	}
	if all[5].SourceUUID != all[3].UUID || all[6].SourceUUID != all[4].UUID {
		t.Error("a result does not name the row of its call")
	}
	if got := string(all[6].ToolUseResult); got != `"Error: no such file"` {
		t.Errorf("the failed result is %s", got)
	}
}

func TestToolsAreNamedOnce(t *testing.T) {
	all := write(t, func(s *Session) {
		s.Prompt("x")
		s.Use("Read", Row{})
		s.Use("Read", Row{})
		s.Use("Bash", Row{})
		s.Respond()
	})
	for _, r := range all {
		if r.Type == "tools-used" && strings.Join(r.Tools, " ") != "Read Bash" {
			t.Errorf("tools %q", r.Tools)
		}
	}
}

func TestCompactCutsTheChain(t *testing.T) {
	var before int64
	all := conversation(write(t, func(s *Session) {
		s.Prompt("x")
		s.Say("y")
		s.Respond()
		before = s.Context()
		s.Compact("auto", before, 2_000, "They said y.")
		s.Say("z")
		s.Respond()
		if s.Context() >= before {
			t.Errorf("the context is %d after the cut, %d before", s.Context(), before)
		}
	}))
	boundary, summary, next := all[2], all[3], all[4]
	if boundary.Subtype != "compact_boundary" || boundary.ParentUUID != nil || boundary.LogicalParent != all[1].UUID ||
		boundary.Meta.Trigger != "auto" || boundary.Meta.PreTokens != before {
		t.Errorf("boundary %+v", boundary)
	}
	if !summary.IsCompactSummary || *summary.ParentUUID != boundary.UUID || string(summary.Message.Content) != `"They said y."` {
		t.Errorf("summary %+v", summary)
	}
	if *next.ParentUUID != summary.UUID {
		t.Error("the conversation does not continue after the summary")
	}
}

func TestSpawnWritesAnAgentsRows(t *testing.T) {
	var own bytes.Buffer
	all := conversation(write(t, func(s *Session) {
		s.Prompt("x")
		call := s.Use("Agent", Row{}.Str("prompt", "look"))
		s.Respond()
		child := s.Spawn(&own, "a1")
		child.Prompt("look")
		child.Say("seen")
		child.Respond()
		s.Join(child)
		s.AnswerAgent(call, "a1", "Explore", "look", "seen", 0)
	}))
	agent := rows(t, own.String())
	for _, r := range agent {
		if !r.IsSidechain || r.AgentID != "a1" || r.SessionID != all[0].SessionID {
			t.Errorf("an agent's row: %+v", r)
		}
	}
	if agent[0].ParentUUID != nil {
		t.Error("an agent's first row has a parent")
	}
	for _, r := range all {
		if r.IsSidechain || r.AgentID != "" {
			t.Errorf("a row of the session itself: %+v", r)
		}
	}
}

func TestAttachAndState(t *testing.T) {
	all := write(t, func(s *Session) {
		s.Begin()
		s.Prompt("x")
		s.Attach("date", Row{}.Str("date", "2026-09-01"), "It is the first.")
		s.Say("y")
		s.Respond()
		s.EndTurn()
	})
	var kinds []string
	for _, r := range all {
		kinds = append(kinds, r.Type)
	}
	want := "mode permission-mode file-history-snapshot user attachment assistant system last-prompt"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("rows\n%s, want\n%s", got, want)
	}
	if last := all[len(all)-1]; last.LeafUUID != all[len(all)-2].UUID {
		t.Error("the last prompt does not name the leaf")
	}
}

func TestIdentityFollowsTheSeed(t *testing.T) {
	one := func(seed uint64) string {
		var b bytes.Buffer
		o := options()
		o.Session, o.Seed = "", seed
		s := New(&b, o)
		s.Prompt("x")
		return b.String()
	}
	if first, second := one(1), one(1); first != second {
		t.Error("the same seed gave two transcripts")
	}
	if one(1) == one(2) {
		t.Error("two seeds gave one transcript")
	}
}

func TestRow(t *testing.T) {
	for want, r := range map[string]Row{
		`{}`:                          {},
		`{"a":"\"\\\n<"}`:             Row{}.Str("a", "\"\\\n<"),
		`{"a":1,"b":true,"c":[]}`:     Row{}.Int("a", 1).Bool("b", true).Raw("c", "[]"),
		`{"a":{"b":{}},"c":["x"]}`:    Row{}.Obj("a", Row{}.Obj("b", Row{})).Strs("c", []string{"x"}),
		`{"a":[{"b":1},{}],"c":[]}`:   Row{}.List("a", Row{}.Int("b", 1), Row{}).Strs("c", nil),
		`{"a":"caf` + "\ufffd" + `"}`: Row{}.Str("a", "caf\xff"),
	} {
		if got := string(r.end()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestErrIsTheFirst(t *testing.T) {
	s := New(&failing{}, options())
	s.Prompt("x")
	s.Say("y")
	s.Respond()
	if s.Err() == nil || !strings.Contains(s.Err().Error(), "write row 2: full") {
		t.Errorf("got %v", s.Err())
	}
	if s.Lines() != 2 {
		t.Errorf("%d lines were tried", s.Lines())
	}
}

// failing takes one line.
type failing struct{ n int }

func (f *failing) Write(p []byte) (int, error) {
	f.n++
	if f.n > 1 {
		return 0, errors.New("full")
	}
	return len(p), nil
}
