package hook

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"strandline/internal/capture"
	"strandline/internal/usage"
)

// monitored returns a fixture with a usage monitor.
func monitored(t *testing.T) *fixture {
	t.Helper()
	s := newFixture(t)
	s.Monitor = &usage.Monitor{
		Store: usage.Store{Dir: filepath.Join(t.TempDir(), "state")}, Zones: usage.Zones{Warn: 0.7, Prune: 0.85},
		Getenv: func(string) string { return "" },
	}
	s.Injectors = []Injector{UsageReport(*s.Monitor, false)}
	return s
}

func (s *fixture) usage(t *testing.T) usage.Session {
	t.Helper()
	state, ok := s.Monitor.Store.Session(session)
	if !ok {
		t.Fatal("no usage state")
	}
	return state
}

// lines returns a turn with a response for each width, with a thousand tokens for each of its characters.
func lines(widths ...int) string {
	text := ""
	for _, n := range widths {
		text += fmt.Sprintf(`{"type":"user","message":"go on"}`+"\n"+`{"type":"assistant","message":{"model":"claude-haiku-4-5","usage":{"input_tokens":%d}}}`+"\n", n*1000)
	}
	return text
}

// In the middle of a turn a report is given only if the user wants it, once per zone.
func TestAdviceAfterToolCalls(t *testing.T) {
	for _, tools := range []bool{false, true} {
		s := monitored(t)
		s.Injectors = []Injector{UsageReport(*s.Monitor, tools)}
		s.transcript(t, lines(100, 139))
		s.send(t, "SessionEnd", nil)
		s.transcript(t, lines(100, 139, 150))
		bash := map[string]string{"tool_name": "Bash"}
		s.send(t, "PostToolUse", bash)
		if !tools {
			if s.out.Len() > 0 {
				t.Errorf("response %q", s.out.String())
			}
			continue
		}
		if got := s.context(t); !strings.HasPrefix(got, "[Strandline] [=======---] 75% 150K/200K ") || !strings.Contains(got, "advise the user to run /compact") {
			t.Errorf("response %q", got)
		}
		s.out.Reset()
		s.send(t, "PostToolUse", bash)
		s.send(t, "UserPromptSubmit", map[string]string{"prompt": "go on"})
		if s.out.Len() > 0 {
			t.Errorf("repeated: %q", s.out.String())
		}
	}
}

func TestMonitorSeesIndexedSteps(t *testing.T) {
	s := monitored(t)
	opened := s.counting()
	s.transcript(t, lines(100, 139))
	s.send(t, "SessionEnd", nil)
	if state := s.usage(t); state.LastTokenEstimate != 139_000 || state.Captured != int64(len(lines(100, 139))) || state.CaptureFailed || len(state.History) != 2 {
		t.Errorf("%+v", state)
	}
	s.send(t, "UserPromptSubmit", nil)
	if s.out.Len() > 0 || *opened != 1 {
		t.Errorf("response %q, opened the index %d times", s.out.String(), *opened)
	}

	s.transcript(t, lines(100, 139, 150))
	s.send(t, "SessionEnd", nil)
	s.send(t, "UserPromptSubmit", map[string]string{"prompt": "go on"})
	if got := s.context(t); !strings.HasPrefix(got, "[Strandline] [=======---] 75% 150K/200K +") {
		t.Errorf("response %q", got)
	}
	if *opened != 2 {
		t.Errorf("the report opened the index: %d times", *opened)
	}
	s.out.Reset()
	s.send(t, "UserPromptSubmit", map[string]string{"prompt": "go on"})
	if s.out.Len() > 0 {
		t.Errorf("repeated: %q", s.out.String())
	}
	s.quiet(t)
}

func TestUsageIsReportedAtPromptsOnly(t *testing.T) {
	s := monitored(t)
	s.transcript(t, lines(190))
	for _, event := range []string{"Stop", "PostToolUse", "SessionStart"} {
		s.send(t, event, map[string]string{"source": "resume"})
	}
	if s.out.Len() > 0 {
		t.Errorf("response %q", s.out.String())
	}
	s.quiet(t)
}

func TestUsageIsResetAtACompaction(t *testing.T) {
	s := monitored(t)
	s.transcript(t, lines(180))
	s.send(t, "SessionEnd", nil)
	s.send(t, "SessionStart", map[string]string{"source": "compact"})
	if state := s.usage(t); state.LastTokenEstimate != 0 || len(state.History) != 0 {
		t.Errorf("%+v", state)
	}
	s.out.Reset()
	s.send(t, "UserPromptSubmit", nil)
	if s.out.Len() > 0 {
		t.Errorf("response %q", s.out.String())
	}
}

func TestForkStartsWithItsContextSize(t *testing.T) {
	s := monitored(t)
	s.Stdin = strings.NewReader(`{"session_id":"` + session + `","transcript_path":"` + filepath.ToSlash(s.path) +
		`","hook_event_name":"SessionStart","source":"fork","context_tokens":80000}`)
	Run(t.Context(), s.Env)
	if state := s.usage(t); state.LastTokenEstimate != 80_000 || !state.Estimated {
		t.Errorf("%+v", state)
	}
}

func TestSubAgentsAreNotMonitored(t *testing.T) {
	s := monitored(t)
	s.transcript(t, lines(100))
	s.send(t, "SessionEnd", nil)
	s.transcript(t, lines(100, 190))
	s.send(t, "SessionStart", map[string]string{"agent_id": "a2c37f95", "source": "compact"})
	if state := s.usage(t); state.LastTokenEstimate != 100_000 {
		t.Errorf("%+v", state)
	}
}

func TestFailedCaptureMakesUsageUncertain(t *testing.T) {
	s := monitored(t)
	s.index.fail = context.DeadlineExceeded
	s.transcript(t, lines(100))
	s.send(t, "SessionEnd", nil)
	if state := s.usage(t); !state.CaptureFailed || state.Captured != int64(len(lines(100))) {
		t.Errorf("%+v", state)
	}
	s.index.fail = nil
	s.Pending = capture.Pending{Dir: t.TempDir()} // another process has indexed it
	s.transcript(t, lines(100, 110))
	s.send(t, "SessionEnd", nil)
	if state := s.usage(t); state.CaptureFailed || state.LastTokenEstimate != 110_000 {
		t.Errorf("%+v", state)
	}
}
