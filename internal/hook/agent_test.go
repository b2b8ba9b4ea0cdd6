package hook

import (
	"context"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
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
