package app_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/bench/synth"
	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/index/sqlite"
	"strandline/internal/sessionlog"
	"strandline/internal/transcript/claude"
)

const session = "7f3a12cd-0000-4000-8000-000000000001"

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func redact(s string) string { return strings.ReplaceAll(s, "sk-hidden", "[secret]") }

// archived returns a workspace and the index of an archive with one session: a turn
// of two steps, and one of a single step.
func archived(t *testing.T) (app.Workspace, *sqlite.Store, string) {
	t.Helper()
	dir := t.TempDir()
	var out bytes.Buffer
	s := synth.New(&out, synth.Options{Session: session, Cwd: "/home/dev/shop", Version: "2.1.0", Model: "m", Start: noon(), Seed: 1})
	s.Begin()
	s.Prompt("The key is sk-hidden, use it")
	s.Say("I look.")
	call := s.Use("Bash", synth.Row{}.Str("command", "cat key"))
	s.Respond()
	s.Answer(call, "sk-hidden", false, nil)
	s.Say("It is there.")
	s.Respond()
	s.EndTurn()
	s.Prompt("Thanks")
	s.Say("Welcome.")
	s.Respond()
	s.EndTurn()
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, session+".jsonl")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &capture.Capture{
		Layout: sessionlog.Layout{Root: dir}, Now: noon,
		Project: func(dir string) archive.Project { return archive.Project{Key: "dir:" + dir} },
	}
	idx, err := sqlite.Open(t.Context(), filepath.Join(dir, "index.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { idx.Close() })
	src, err := capture.TranscriptSource(path, session, "/home/dev/shop")
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.LogSession(t.Context(), src, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.IndexAll(t.Context(), idx, got.Sessions); err != nil {
		t.Fatal(err)
	}
	return app.Workspace{Capture: c, Redact: redact}, idx, out.String()
}

func TestBlocks(t *testing.T) {
	r, idx, _ := archived(t)
	tests := map[string]struct {
		turn, step int
		want       string
	}{
		"a session": {-1, -1, "The key is [secret], use it|I look.|cat key|[secret]|It is there.|Thanks|Welcome."},
		"a turn":    {0, -1, "The key is [secret], use it|I look.|cat key|[secret]|It is there."},
		"a step":    {0, 0, "I look.|cat key|[secret]"},
		"the last":  {1, 0, "Welcome."},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			blocks, err := r.Blocks(t.Context(), idx, session, archive.Handle{Session: session, Turn: c.turn, Step: c.step})
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, b := range blocks {
				if b.Conversation() && b.Kind != claude.BlockSystem {
					texts = append(texts, strings.TrimSpace(b.Text))
				}
			}
			if got := strings.Join(texts, "|"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestBlocksOfMissingPlaces(t *testing.T) {
	r, idx, _ := archived(t)
	for _, h := range []archive.Handle{{Turn: 2, Step: -1}, {Turn: 0, Step: 2}, {Turn: 99, Step: 0}} {
		if _, err := r.Blocks(t.Context(), idx, session, h); archive.ErrorCode(err) != archive.CodeNotFound || archive.ErrorHint(err) == "" {
			t.Errorf("%+v: %v", h, err)
		}
	}
	if _, err := r.Blocks(t.Context(), idx, "ffffffff", archive.Handle{Turn: -1, Step: -1}); err == nil {
		t.Error("a session without a log has a text")
	}
}

func TestRawEqualsTranscript(t *testing.T) {
	r, _, transcript := archived(t)
	got, err := r.Raw(t.Context(), session, 0, 0)
	if err != nil || string(got) != transcript {
		t.Errorf("%d bytes, %v; want the %d of the transcript", len(got), err, len(transcript))
	}
	all := strings.SplitAfter(transcript, "\n")
	got, err = r.Raw(t.Context(), session, 1, 3)
	if want := all[1] + all[2]; err != nil || string(got) != want {
		t.Errorf("lines 1 to 3: %q, %v, want %q", got, err, want)
	}
}

func TestScanRedactsAndStops(t *testing.T) {
	r, _, _ := archived(t)
	var seen []string
	if err := r.ScanLines(t.Context(), session, 0, 0, nil, func(_ int, text string) error {
		seen = append(seen, text)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(seen, "\n"); strings.Contains(all, "sk-hidden") || !strings.Contains(all, "[secret]") {
		t.Errorf("scanned: %s", all)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Scan(ctx, session, 0, 0, func(int, []byte) error { return nil }); err == nil {
		t.Error("a cancelled scan goes on")
	}
}
