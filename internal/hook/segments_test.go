package hook

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/task"
	"strandline/internal/usage"
)

// withUsage returns a fixture whose context window is filled to a share.
func withUsage(t *testing.T, share float64, steps int) *fixture {
	t.Helper()
	s := newFixture(t)
	dir := filepath.Join(t.TempDir(), "state")
	s.Segments = Segments{Usage: usage.Store{Dir: dir}, Marks: task.CheckStates{Dir: filepath.Join(dir, "segments")}}
	s.Config.Segments.QueueAt, s.Config.Segments.Every = 60, 10
	if err := s.Segments.Usage.Update(t.Context(), session, func(g *usage.Session) bool {
		g.LastPercentage, g.LastTokenEstimate, g.Window = share, int64(share*1e6), 1e6
		return true
	}); err != nil {
		t.Fatal(err)
	}
	s.index.steps = steps
	s.transcript(t, lines(61))
	return s
}

// Within a turn; the catch-up that the end of a turn starts checks as well.
func TestSegmentCheckIsStarted(t *testing.T) {
	for name, c := range map[string]struct {
		share  float64
		tool   string
		fields map[string]string
		change func(s *fixture)
		want   bool
	}{
		"after a command":        {0.61, "Bash", nil, nil, true},
		"after an edit":          {0.61, "Edit", nil, nil, true},
		"after a new file":       {0.61, "Write", nil, nil, true},
		"after a read":           {0.61, "Read", nil, nil, false},
		"below the threshold":    {0.59, "Bash", nil, nil, false},
		"at the threshold":       {0.60, "Bash", nil, nil, true},
		"too few tokens":         {0.9, "Bash", nil, func(s *fixture) { s.transcript(t, lines(59)) }, false},
		"no new lines":           {0.9, "Bash", nil, func(s *fixture) { s.transcript(t, "") }, false},
		"in a sub-agent":         {0.9, "Bash", map[string]string{"agent_id": "a1"}, nil, false},
		"nine steps ago":         {0.9, "Bash", nil, func(s *fixture) { s.mark(task.CheckState{Checked: 21}) }, false},
		"ten steps ago":          {0.9, "Bash", nil, func(s *fixture) { s.mark(task.CheckState{Checked: 20}) }, true},
		"a mark with more steps": {0.9, "Bash", nil, func(s *fixture) { s.mark(task.CheckState{Checked: 99}) }, true},
		"forced below threshold": {0.1, "Bash", nil, func(s *fixture) { s.Config.Segments.ForceCheck = true; s.mark(task.CheckState{Checked: 30}) }, true},
		"disabled":               {0.9, "Bash", nil, func(s *fixture) { s.Config.Segments.Disabled = true }, false},
		"disabled and forced":    {0.9, "Bash", nil, func(s *fixture) { s.Config.Segments.Disabled, s.Config.Segments.ForceCheck = true, true }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := withUsage(t, c.share, 30)
			if c.change != nil {
				c.change(s)
			}
			fields := map[string]string{"tool_name": c.tool}
			maps.Copy(fields, c.fields)
			s.send(t, "PostToolUse", fields)
			got := slices.ContainsFunc(s.detached, func(args []string) bool {
				return slices.Equal(args, []string{"segments", "--check", "--if-due", "--session", session})
			})
			if got != c.want {
				t.Errorf("started: %t, want %t (%v)\n%s", got, c.want, s.detached, s.logged.String())
			}
			if got && s.Segments.Marks.Read(session).Checked != 30 {
				t.Errorf("mark %+v", s.Segments.Marks.Read(session))
			}
		})
	}
}

func (s *fixture) mark(m task.CheckState) {
	if err := s.Segments.Marks.Write(session, m); err != nil {
		panic(err) // an error of the test itself
	}
}

// The reminder is written once per threshold, and only where the model can run a command.
func TestReminder(t *testing.T) {
	s := withUsage(t, 0.2, 30)
	s.Injectors = []Injector{Reminder(s.Segments.Marks)}
	bash := map[string]string{"tool_name": "Bash"}
	reminded := func(event string, fields map[string]string) bool {
		t.Helper()
		s.out.Reset()
		s.send(t, event, fields)
		return strings.Contains(s.out.String(), "segments save")
	}
	if reminded("PostToolUse", bash) {
		t.Error("reminded without pending segments")
	}
	s.mark(task.CheckState{Checked: 30, Pending: 3, Crossed: 60})
	if reminded("UserPromptSubmit", nil) || reminded("PostToolUse", map[string]string{"tool_name": "Read"}) || reminded("PostToolUse", map[string]string{"tool_name": "Bash", "agent_id": "a1"}) {
		t.Error("reminded where the model cannot run a command")
	}
	if !reminded("PostToolUse", bash) || !strings.Contains(s.out.String(), "60% full and 3 finished pieces of work have no summary yet") {
		t.Errorf("not reminded: %s", s.out.String())
	}
	if reminded("PostToolUse", bash) {
		t.Error("reminded twice of one threshold")
	}
	s.mark(task.CheckState{Checked: 40, Pending: 1, Crossed: 70, Reminded: 60})
	if !reminded("PostToolUse", bash) {
		t.Error("not reminded of the next threshold")
	}
	s.send(t, "SessionStart", map[string]string{"source": "compact"})
	if m := s.Segments.Marks.Read(session); m != (task.CheckState{}) {
		t.Errorf("after a compaction %+v", m)
	}
}

// The steering text holds the segment summaries verbatim.
func TestSummariesAreInTheSteeringText(t *testing.T) {
	s := newFixture(t)
	s.transcript(t, "{\"type\":\"mode\"}\n")
	data, err := json.Marshal(archive.SegmentFact{Event: archive.SegmentSummarised, Segment: archive.Segment{
		ID: "seg-1", Session: session, StartTurn: 4, Content: "Tokenizer done: it reads runes because bytes break names.",
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.index.facts = []archive.JournalEntry{{ID: "e", Kind: archive.JournalSegment, Session: session, Data: data}}
	s.OpenIndex = func(context.Context, bool) (*Index, error) { return whole(s.index), nil }
	s.send(t, "PreCompact", map[string]string{"trigger": "auto"})
	want := "[4] Tokenizer done: it reads runes because bytes break names."
	if !strings.Contains(s.out.String(), want) || !strings.Contains(s.out.String(), "## Segment summaries") {
		t.Errorf("%q is not in\n%s", want, s.out.String())
	}
}
