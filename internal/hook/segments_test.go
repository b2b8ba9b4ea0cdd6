package hook

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/task"
	"strandline/internal/transcript"
	"strandline/internal/usage"
)

// filling is a stage whose session's window is filled to a share.
func filling(t *testing.T, share float64, steps int) *stage {
	t.Helper()
	s := newStage(t)
	dir := filepath.Join(t.TempDir(), "state")
	s.Segments = Segments{Gauges: usage.Files{Dir: dir}, Marks: task.Marks{Dir: filepath.Join(dir, "segments")}}
	s.Config.Segments.QueueAt, s.Config.Segments.Every = 60, 10
	if err := s.Segments.Gauges.Update(t.Context(), session, func(g *usage.Session) bool {
		g.LastPercentage, g.LastTokenEstimate, g.Window = share, int64(share*1e6), 1e6
		return true
	}); err != nil {
		t.Fatal(err)
	}
	s.index.steps = steps
	s.Capture.Client.Reader = func(_ archive.Session, cur archive.Cursor) (transcript.Reader, error) { return stepReader{cur}, nil }
	s.transcript(t, lines(61))
	return s
}

func TestFinishedWorkIsLookedFor(t *testing.T) {
	tool := func(name string) map[string]string { return map[string]string{"tool_name": name} }
	for name, c := range map[string]struct {
		share  float64
		event  string
		fields map[string]string
		change func(s *stage)
		want   bool
	}{
		"at a turn's end":           {0.61, "Stop", nil, nil, true},
		"behind a command":          {0.61, "PostToolUse", tool("Bash"), nil, true},
		"behind a change":           {0.61, "PostToolUse", tool("Edit"), nil, true},
		"behind a new file":         {0.61, "PostToolUse", tool("Write"), nil, true},
		"behind a look":             {0.61, "PostToolUse", tool("Read"), nil, false},
		"at a prompt":               {0.61, "UserPromptSubmit", nil, nil, false},
		"below the threshold":       {0.59, "Stop", nil, nil, false},
		"too little for any window": {0.9, "Stop", nil, func(s *stage) { s.transcript(t, lines(59)) }, false},
		"nothing new was seen":      {0.9, "Stop", nil, func(s *stage) { s.transcript(t, "") }, false},
		"at the threshold":          {0.60, "Stop", nil, nil, true},
		"in a sub-agent":            {0.9, "Stop", map[string]string{"agent_id": "a1"}, nil, false},
		"nine steps ago":            {0.9, "Stop", nil, func(s *stage) { s.mark(task.Mark{Checked: 21}) }, false},
		"ten steps ago":             {0.9, "Stop", nil, func(s *stage) { s.mark(task.Mark{Checked: 20}) }, true},
		"a mark from the future":    {0.9, "Stop", nil, func(s *stage) { s.mark(task.Mark{Checked: 99}) }, true},
		"forced, however empty":     {0.1, "Stop", nil, func(s *stage) { s.Config.Segments.ForceCheck = true; s.mark(task.Mark{Checked: 30}) }, true},
		"switched off":              {0.9, "Stop", nil, func(s *stage) { s.Config.Segments.Disabled = true }, false},
		"switched off, and forced":  {0.9, "Stop", nil, func(s *stage) { s.Config.Segments.Disabled, s.Config.Segments.ForceCheck = true, true }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := filling(t, c.share, 30)
			if c.change != nil {
				c.change(s)
			}
			s.send(t, c.event, c.fields)
			got := slices.ContainsFunc(s.detached, func(args []string) bool {
				return slices.Equal(args, []string{"segments", "--check", "--if-due", "--session", session})
			})
			if got != c.want {
				t.Errorf("looked for: %t, want %t (%v)\n%s", got, c.want, s.detached, s.logged.String())
			}
			if got && s.Segments.Marks.Read(session).Checked != 30 {
				t.Errorf("mark %+v", s.Segments.Marks.Read(session))
			}
		})
	}
}

func (s *stage) mark(m task.Mark) {
	if err := s.Segments.Marks.Write(session, m); err != nil {
		panic(err) // a fault of the test itself
	}
}

// The model is told once of what waits, and only where it can run a command.
func TestReminder(t *testing.T) {
	s := filling(t, 0.2, 30)
	s.Speakers = []Speaker{Reminder(s.Segments.Marks)}
	bash := map[string]string{"tool_name": "Bash"}
	told := func(event string, fields map[string]string) bool {
		t.Helper()
		s.out.Reset()
		s.send(t, event, fields)
		return strings.Contains(s.out.String(), "segments save")
	}
	if told("PostToolUse", bash) {
		t.Error("told of nothing")
	}
	s.mark(task.Mark{Checked: 30, Pending: 3, Crossed: 60})
	if told("UserPromptSubmit", nil) || told("PostToolUse", map[string]string{"tool_name": "Read"}) || told("PostToolUse", map[string]string{"tool_name": "Bash", "agent_id": "a1"}) {
		t.Error("told where it cannot act")
	}
	if !told("PostToolUse", bash) || !strings.Contains(s.out.String(), "60% full and 3 finished pieces of work wait") {
		t.Errorf("not told: %s", s.out.String())
	}
	if told("PostToolUse", bash) {
		t.Error("told twice of one threshold")
	}
	s.mark(task.Mark{Checked: 40, Pending: 1, Crossed: 70, Reminded: 60})
	if !told("PostToolUse", bash) {
		t.Error("not told of the next threshold")
	}
	s.send(t, "SessionStart", map[string]string{"source": "compact"})
	if m := s.Segments.Marks.Read(session); m != (task.Mark{}) {
		t.Errorf("after a compaction %+v", m)
	}
}

// The summaries of finished work are passed on word for word at a compaction.
func TestSummariesArePreserved(t *testing.T) {
	s := newStage(t)
	s.transcript(t, "{\"a\":1}\n")
	data, err := json.Marshal(archive.SegmentFact{Event: archive.SegmentSummarised, Segment: archive.Segment{
		ID: "seg-1", Session: session, StartTurn: 4, Content: "Tokenizer done: it reads runes because bytes break names.",
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.index.facts = []archive.JournalEntry{{ID: "e", Kind: archive.JournalSegment, Session: session, Data: data}}
	s.OpenIndex = func(context.Context) (Index, error) { return s.index, nil }
	s.send(t, "PreCompact", map[string]string{"trigger": "auto"})
	want := "[7f3a12cd/4] Tokenizer done: it reads runes because bytes break names."
	if !strings.Contains(s.out.String(), want) || !strings.Contains(s.out.String(), "## Segment summaries") {
		t.Errorf("%q is not in\n%s", want, s.out.String())
	}
}
