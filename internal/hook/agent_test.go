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

// askedIndex remembers whose passages were asked for.
type askedIndex struct {
	*fakeIndex
	asked []string
}

func (a *askedIndex) Passages(ctx context.Context, span archive.PassageSpan) ([]archive.Passage, error) {
	a.asked = append(a.asked, span.Session)
	return a.fakeIndex.Passages(ctx, span)
}

// A sub-agent's compaction comes under its parent's session id: what is said goes
// into the sub-agent's context and has to be about the sub-agent.
func TestASubAgentGetsItsOwnPast(t *testing.T) {
	for name, c := range map[string]struct {
		event, agent, want string
	}{
		"restore, a sub-agent":        {"SessionStart", "af62130f451c1a5f5", session + "~af62130f451c1a5f5"},
		"restore, the session":        {"SessionStart", "", session},
		"restore, no agent's id":      {"SessionStart", "../x", session},
		"instructions, a sub-agent":   {"PreCompact", "af62130f451c1a5f5", session + "~af62130f451c1a5f5"},
		"instructions, the session":   {"PreCompact", "", session},
		"instructions, no agent's id": {"PreCompact", "a/b", session},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.transcript(t, "{\"a\":1}\n")
			index := &askedIndex{fakeIndex: s.index}
			s.OpenIndex = func(context.Context) (Index, error) { return index, nil }
			s.send(t, c.event, map[string]string{"source": "compact", "trigger": "auto", "agent_id": c.agent})
			if len(index.asked) == 0 {
				t.Fatal("nobody's past was asked for")
			}
			for _, asked := range index.asked {
				if asked != c.want {
					t.Errorf("the past of %s was asked for, want %s", asked, c.want)
				}
			}
		})
	}
}

// TestASubAgentIsGivenWhatItsTypeNeeds: its type tells its role; the session's own
// block is shaped by none.
func TestASubAgentIsGivenWhatItsTypeNeeds(t *testing.T) {
	for name, c := range map[string]struct{ agent, typ, want string }{
		"a developer":                {"af62130f451c1a5f5", "backend-dev", ", for the developer."},
		"a lead":                     {"af62130f451c1a5f5", "tech-lead", ", for the orchestrator."},
		"any other":                  {"af62130f451c1a5f5", "general-purpose", ", for the validator."},
		"the session":                {"", "", ""},
		"no agent's id":              {"../x", "tech-lead", ""},
		"the session, with a type":   {"", "tech-lead", ""},
		"a specialist of a plugin's": {"b1", "my:rust-specialist", ", for the specialist."},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.transcript(t, "{\"a\":1}\n")
			s.index.passages = []archive.Passage{{Kind: archive.KindPrompt, Step: -1, Text: "Look at retry.go, please.", LineTo: 1}}
			s.send(t, "SessionStart", map[string]string{"source": "compact", "agent_id": c.agent, "agent_type": c.typ})
			got := s.out.String()
			if got == "" || strings.Contains(got, ", for the ") != (c.want != "") || !strings.Contains(got, c.want) {
				t.Errorf("want %q in\n%s", c.want, got)
			}
		})
	}
}

// TestWhatWasTypedReachesTheBlock: only PreCompact is told what stood behind
// /compact, and the block behind the summary begins with it, once.
func TestWhatWasTypedReachesTheBlock(t *testing.T) {
	s := newStage(t)
	s.Now = time.Now // notes are dated by the file system
	s.Underway = capture.Underway{Dir: filepath.Join(t.TempDir(), "compacting")}
	s.transcript(t, "{\"a\":1}\n")
	s.index.passages = []archive.Passage{{Kind: archive.KindPrompt, Step: -1, Text: "Look at retry.go, please.", LineTo: 1}}
	for _, want := range []bool{true, false} {
		if want {
			s.send(t, "PreCompact", map[string]string{"trigger": "manual", "custom_instructions": "mind the tides"})
		}
		s.out.Reset()
		s.send(t, "SessionStart", map[string]string{"source": "compact"})
		if got := strings.Contains(s.out.String(), "With this /compact: MIND THE TIDES"); got != want { // redacted
			t.Errorf("told %t, want %t: %s", got, want, s.out.String())
		}
	}
	s.quiet(t)
}

func TestAnEndedSessionIsLookedAtOnceMore(t *testing.T) {
	s := newStage(t)
	s.transcript(t, "{\"a\":1}\n")
	s.send(t, "SessionEnd", map[string]string{"reason": "clear", "cwd": "/w"})
	want := []string{"catchup", "--session", session, "--transcript", s.path, "--cwd", "/w"}
	if len(s.detached) != 1 || !slices.Equal(s.detached[0], want) {
		t.Errorf("detached %q, want %q", s.detached, want)
	}
	if s.Pending.Any() {
		t.Error("a session that was captured is noted as pending")
	}
}

// TestWhatIsNotCommittedIsTold asks in the session's own folder, at a compaction
// and at no other event.
func TestWhatIsNotCommittedIsTold(t *testing.T) {
	for event, want := range map[string]bool{"PreCompact": true, "SessionStart": false, "Stop": false} {
		s := newStage(t)
		s.transcript(t, "{\"a\":1}\n")
		s.Changes = func(_ context.Context, dir string) string { return dir + "/a.go | 1 +" }
		s.send(t, event, map[string]string{"source": "compact", "trigger": "auto", "cwd": "/work/tree"})
		s.quiet(t)
		if got := strings.Contains(s.out.String(), "/work/tree/a.go | 1 +"); got != want {
			t.Errorf("%s: told %t, want %t: %s", event, got, want, s.out.String())
		}
	}
}

// TestWhoseSummaryItIs: the summarizer's end comes under the session's id and
// names an agent of its own; whose context it summarized, PreCompact has told.
func TestWhoseSummaryItIs(t *testing.T) {
	const agent, other = "af62130f451c1a5f5", "b1"
	for name, c := range map[string]struct {
		before []string // agents whose compaction began, "" for the session's own
		ended  []string // those whose context was restored meanwhile
		want   string   // "" for nobody's
	}{
		"the session's":                    {[]string{""}, nil, session},
		"a sub-agent's":                    {[]string{agent}, nil, session + "~" + agent},
		"the session's, when nobody told":  {nil, nil, session},
		"two at a time":                    {[]string{agent, other}, nil, ""},
		"the second, when the first ended": {[]string{agent, other}, []string{agent}, session + "~" + other},
		"no agent's id":                    {[]string{"../x"}, nil, session},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.Now = time.Now // notes are dated by the file system
			s.Underway = capture.Underway{Dir: filepath.Join(t.TempDir(), "compacting")}
			s.transcript(t, "{\"a\":1}\n")
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
