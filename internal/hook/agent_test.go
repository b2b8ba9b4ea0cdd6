package hook

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
)

// spanIndex records the sessions whose passages were read.
type spanIndex struct {
	*fakeIndex
	sessions []string
}

func (a *spanIndex) Passages(ctx context.Context, span archive.PassageSpan) ([]archive.Passage, error) {
	a.sessions = append(a.sessions, span.Session)
	return a.fakeIndex.Passages(ctx, span)
}

// The events of a sub-agent's compaction carry its parent's session id. The
// response enters the sub-agent's context and has to be about the sub-agent.
func TestSubAgentResponseIsAboutTheSubAgent(t *testing.T) {
	for name, c := range map[string]struct {
		event, agent, want string
	}{
		"restore, a sub-agent":           {"SessionStart", "af62130f451c1a5f5", session + "~af62130f451c1a5f5"},
		"restore, the session":           {"SessionStart", "", session},
		"restore, invalid agent id":      {"SessionStart", "../x", session},
		"instructions, a sub-agent":      {"PreCompact", "af62130f451c1a5f5", session + "~af62130f451c1a5f5"},
		"instructions, the session":      {"PreCompact", "", session},
		"instructions, invalid agent id": {"PreCompact", "a/b", session},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			s.transcript(t, "{\"type\":\"mode\"}\n")
			index := &spanIndex{fakeIndex: s.index}
			s.OpenIndex = func(context.Context, bool) (*Index, error) { return whole(index), nil }
			s.send(t, c.event, map[string]string{"source": "compact", "trigger": "auto", "agent_id": c.agent})
			if len(index.sessions) == 0 {
				t.Fatal("no passages were read")
			}
			for _, got := range index.sessions {
				if got != c.want {
					t.Errorf("read passages of %s, want %s", got, c.want)
				}
			}
		})
	}
}

// A sub-agent's type determines its role; the session's own restored context has none.
func TestRestoredContextFollowsTheAgentType(t *testing.T) {
	for name, c := range map[string]struct{ agent, typ, want string }{
		"a developer":              {"af62130f451c1a5f5", "backend-dev", ", for the developer."},
		"a lead":                   {"af62130f451c1a5f5", "tech-lead", ", for the orchestrator."},
		"any other":                {"af62130f451c1a5f5", "general-purpose", ""},
		"a validator":              {"af62130f451c1a5f5", "validator", ", for the validator."},
		"the session":              {"", "", ""},
		"invalid agent id":         {"../x", "tech-lead", ""},
		"the session, with a type": {"", "tech-lead", ""},
		"a plugin's specialist":    {"b1", "my:rust-specialist", ", for the specialist."},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			s.transcript(t, "{\"type\":\"mode\"}\n")
			s.index.passages = []archive.Passage{{Kind: archive.KindPrompt, Step: -1, Text: "Look at retry.go, please.", LineTo: 1}}
			s.send(t, "SessionStart", map[string]string{"source": "compact", "agent_id": c.agent, "agent_type": c.typ})
			got := s.out.String()
			if got == "" || strings.Contains(got, ", for the ") != (c.want != "") || !strings.Contains(got, c.want) {
				t.Errorf("want %q in\n%s", c.want, got)
			}
		})
	}
}

// Only PreCompact carries the argument of /compact. The restored context that
// follows starts with it, once.
func TestCompactArgumentIsRestoredOnce(t *testing.T) {
	s := newFixture(t)
	s.Now = time.Now // the notes' age is their file's modification time
	s.Underway = capture.PendingCompactions{Dir: filepath.Join(t.TempDir(), "compacting")}
	s.transcript(t, "{\"type\":\"mode\"}\n")
	s.index.passages = []archive.Passage{{Kind: archive.KindPrompt, Step: -1, Text: "Look at retry.go, please.", LineTo: 1}}
	for _, want := range []bool{true, false} {
		if want {
			s.send(t, "PreCompact", map[string]string{"trigger": "manual", "custom_instructions": "mind the tides"})
		}
		s.out.Reset()
		s.send(t, "SessionStart", map[string]string{"source": "compact"})
		if got := strings.Contains(s.out.String(), "/compact instructions: MIND THE TIDES"); got != want { // redacted
			t.Errorf("contained %t, want %t: %s", got, want, s.out.String())
		}
	}
	s.quiet(t)
}

// The client writes the last rows of a turn and of a session after the hooks.
func TestStopAndSessionEndStartCatchup(t *testing.T) {
	for _, event := range []string{"Stop", "SessionEnd"} {
		s := newFixture(t)
		s.transcript(t, "{\"type\":\"mode\"}\n")
		s.send(t, event, map[string]string{"reason": "clear", "cwd": "/w"})
		want := []string{"catchup", "--client", "claude", "--session", session, "--transcript", s.path, "--cwd", "/w"}
		if len(s.detached) != 1 || !slices.Equal(s.detached[0], want) {
			t.Errorf("%s: detached %q, want %q", event, s.detached, want)
		}
		if s.Pending.Any() != (event == "Stop") {
			t.Errorf("%s: pending %t", event, s.Pending.Any())
		}
	}
}

// The steering text holds the uncommitted changes of the session's folder; other
// responses do not.
func TestUncommittedChangesAreInTheSteeringText(t *testing.T) {
	for event, want := range map[string]bool{"PreCompact": true, "SessionStart": false, "Stop": false} {
		s := newFixture(t)
		s.transcript(t, "{\"type\":\"mode\"}\n")
		s.Changes = func(_ context.Context, dir string) string { return dir + "/a.go | 1 +" }
		s.send(t, event, map[string]string{"source": "compact", "trigger": "auto", "cwd": "/work/tree"})
		s.quiet(t)
		if got := strings.Contains(s.out.String(), "/work/tree/a.go | 1 +"); got != want {
			t.Errorf("%s: contained %t, want %t: %s", event, got, want, s.out.String())
		}
	}
}

// The summarizer's SubagentStop carries the session's id and the summarizer's own
// agent id. The preceding PreCompact says whose context was summarized.
func TestSummaryIsAttributedToItsSubject(t *testing.T) {
	const agent, other = "af62130f451c1a5f5", "b1"
	for name, c := range map[string]struct {
		before []string // agents whose compaction began, "" for the session itself
		ended  []string // agents whose context was restored since
		want   string   // "" if the summary is dropped
	}{
		"the session's":                     {[]string{""}, nil, session},
		"a sub-agent's":                     {[]string{agent}, nil, session + "~" + agent},
		"the session's, without PreCompact": {nil, nil, session},
		"two at the same time":              {[]string{agent, other}, nil, ""},
		"the second, after the first ended": {[]string{agent, other}, []string{agent}, session + "~" + other},
		"invalid agent id":                  {[]string{"../x"}, nil, session},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			s.Now = time.Now // the notes' age is their file's modification time
			s.Underway = capture.PendingCompactions{Dir: filepath.Join(t.TempDir(), "compacting")}
			s.transcript(t, "{\"type\":\"mode\"}\n")
			for _, a := range c.before {
				s.send(t, "PreCompact", map[string]string{"trigger": "auto", "agent_id": a})
			}
			for _, a := range c.ended {
				s.send(t, "SessionStart", map[string]string{"source": "compact", "agent_id": a})
			}
			s.send(t, "SubagentStop", map[string]string{"agent_id": "c3", "agent_type": "", "last_assistant_message": "<summary>x</summary>"})
			got := ""
			for _, e := range s.index.journal {
				if e.Kind == archive.JournalSummary {
					got = e.Session
				}
			}
			if got != c.want {
				t.Errorf("the summary is of %q, want %q", got, c.want)
			}
			s.quiet(t)
		})
	}
}
