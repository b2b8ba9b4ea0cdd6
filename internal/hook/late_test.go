package hook

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
)

// TestLateCompaction: a client that tells no hook of a compaction gets its context once, at the
// first event whose answer it adds: in its own name, and not at the end of the turn.
func TestLateCompaction(t *testing.T) {
	s := newFixture(t)
	s.Now = time.Now // the notes' age is their file's modification time
	s.Client.Hooks.Known = nil
	s.Client.Hooks.Events = map[string]string{"BeforeAgent": "UserPromptSubmit", "AfterAgent": "Stop"}
	s.Client.Hooks.Context = []string{"UserPromptSubmit"}
	s.Client.Hooks.Compacted = func(rows []byte) bool { return bytes.Contains(rows, []byte("snapshot")) }
	s.Late = capture.PendingCompactions{Dir: filepath.Join(t.TempDir(), "late"), Lifetime: time.Hour}
	s.index.passages = []archive.Passage{{Kind: archive.KindPrompt, Step: -1, Text: "Look at retry.go, please.", LineTo: 1}}
	rows := ""
	for _, c := range []struct {
		event, row string
		restored   bool
	}{
		{"BeforeAgent", `{"type":"mode"}`, false},
		{"AfterAgent", `{"type":"mode","x":"snapshot"}`, false},
		{"BeforeAgent", `{"type":"mode"}`, true},
		{"BeforeAgent", `{"type":"mode"}`, false},
	} {
		rows += c.row + "\n"
		s.transcript(t, rows)
		s.out.Reset()
		s.send(t, c.event, map[string]string{"prompt": "go on"})
		got := s.out.String()
		if strings.Contains(got, "RECORD") != c.restored || c.restored && !strings.Contains(got, `"hookEventName":"BeforeAgent"`) {
			t.Errorf("%s after %s: restored %t:\n%s", c.event, c.row, !c.restored, got)
		}
	}
	s.quiet(t)
}

// TestSteeringTextAsJSON: a client that takes no decision at PreCompact gets JSON, within its
// limit.
func TestSteeringTextAsJSON(t *testing.T) {
	s := newFixture(t)
	s.Client.Hooks.Blocks, s.Client.Hooks.Steers = false, 3000
	s.index.passages = []archive.Passage{{Session: session, Kind: archive.KindReply, Text: "I decided to use port 18443 because the gateway bans clients that retry.", LineTo: 1}}
	s.transcript(t, "{\"type\":\"mode\"}\n")
	s.send(t, "PreCompact", map[string]string{"trigger": "auto"})
	if got := s.out.String(); !strings.HasPrefix(got, `{"hookSpecificOutput":{"hookEventName":"PreCompact"`) || len(got) > 3400 {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// TestSessionInTheName: Gemini CLI names a transcript by a part of the session's id.
func TestSessionInTheName(t *testing.T) {
	s := newFixture(t)
	s.Client.File = func(string) (string, bool) { return "7f3a12cd", true }
	for session, want := range map[string]string{"7f3a12cd-0000-4000": "7f3a12cd", "8f3a12cd-0000-4000": "8f3a12cd-0000-4000"} {
		if got := sessionIn(s.Client, payload{Session: session, Transcript: "x"}); got != want {
			t.Errorf("session %s of %s, want %s", got, session, want)
		}
	}
}
