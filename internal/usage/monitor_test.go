package usage_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/client/codex"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
	"strandline/internal/usage"
)

// fixture is a Monitor with one session.
type fixture struct {
	t *testing.T
	usage.Monitor
	now      time.Time
	env      map[string]string
	line     int
	captured int64
	path     string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{t: t, env: map[string]string{}, now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), path: filepath.Join(dir, "t.jsonl")}
	f.Monitor = usage.Monitor{
		Store: usage.Store{Dir: filepath.Join(dir, "state")}, Zones: usage.Zones{Warn: 0.70, Prune: 0.85},
		Getenv: func(name string) string { return f.env[name] }, Conversation: func(b []byte) []transcript.Message { return claude.Conversation(b, nil) },
		LastUsage: claude.LastUsage,
	}
	return f
}

// see observes newly indexed rows.
func (f *fixture) see(b archive.Batch) usage.Session {
	f.t.Helper()
	b.Session.ID = session
	f.captured += 1000
	return f.watch(usage.Observation{Captured: f.captured, Batches: []archive.Batch{b}})
}

func (f *fixture) watch(x usage.Observation) usage.Session {
	f.t.Helper()
	x.Session, x.Now, x.Transcript = session, f.now, f.path
	if err := f.Observe(f.t.Context(), x); err != nil {
		f.t.Fatal(err)
	}
	return f.state()
}

func (f *fixture) state() usage.Session {
	f.t.Helper()
	s, ok := f.Store.Session(session)
	if !ok {
		f.t.Fatal("the session has no record")
	}
	return s
}

// step returns a response with a number of tokens in the window.
func (f *fixture) step(turn int, tokens int64) archive.Step {
	f.line += 3
	return archive.Step{
		Session: session, Turn: turn, Model: "claude-haiku-4-5", LineFrom: f.line, LineTo: f.line + 1,
		Usage: archive.Usage{Input: 12, CacheRead: tokens - 12 - 30, CacheWrite: 30, Output: 100},
	}
}

func (f *fixture) turn(turn int, tokens int64) usage.Session {
	f.t.Helper()
	return f.see(archive.Batch{Steps: []archive.Step{f.step(turn, tokens)}})
}

// report returns the report and marks it as delivered.
func (f *fixture) report() string {
	f.t.Helper()
	r := f.Report(session, "")
	if r.Delivered != nil {
		if err := r.Delivered(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
	}
	return r.Text
}

func TestUsageIsThatOfTheLastResponse(t *testing.T) {
	f := newFixture(t)
	s := f.see(archive.Batch{Steps: []archive.Step{f.step(0, 50_000), f.step(0, 86_700)}})
	if s.LastTokenEstimate != 86_700 || s.LastPercentage != 0.4335 || s.Estimated || s.Window != 200_000 || s.WindowFrom != "model" ||
		s.Zone != "ok" || s.LastCheck != f.now.UnixMilli() || s.Captured != 1000 {
		t.Errorf("%+v", s)
	}
	if len(s.History) != 1 || s.History[0] != (usage.Point{TS: f.now.UnixMilli(), Tokens: 86_700, Pct: 0.4335, Turns: 0}) {
		t.Errorf("history %+v", s.History)
	}
}

func TestResponsesThatAreNotCounted(t *testing.T) {
	for name, change := range map[string]func(s *archive.Step){
		"a sub-agent's response":        func(s *archive.Step) { s.Sidechain = true },
		"a failed request":              func(s *archive.Step) { s.APIError = true },
		"a row that was copied":         func(s *archive.Step) { s.Copy = &archive.Ref{} },
		"no usage":                      func(s *archive.Step) { s.Usage = archive.Usage{} },
		"negative usage":                func(s *archive.Step) { s.Usage.CacheRead = -90_000 },
		"more than any window":          func(s *archive.Step) { s.Usage.Input = 1 << 50 },
		"negative output":               func(s *archive.Step) { s.Usage.Output = -1 },
		"output larger than any window": func(s *archive.Step) { s.Usage.Output = 1 << 50 },
		"an older row again":            func(s *archive.Step) { s.LineFrom = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.turn(0, 50_000)
			bad := f.step(1, 90_000)
			change(&bad)
			if s := f.see(archive.Batch{Steps: []archive.Step{bad}}); s.LastTokenEstimate != 50_000 || len(s.History) != 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestRowsOfOtherSessionsAreIgnored(t *testing.T) {
	f := newFixture(t)
	f.turn(0, 50_000)
	b := archive.Batch{Session: archive.Session{ID: session + "~a2c37f95"}, Steps: []archive.Step{f.step(0, 90_000)}}
	if s := f.watch(usage.Observation{Captured: 2, Batches: []archive.Batch{b}}); s.LastTokenEstimate != 50_000 {
		t.Errorf("%+v", s)
	}
}

func TestWindowSource(t *testing.T) {
	for name, c := range map[string]struct {
		reported      int64
		reportedModel string
		model         string
		config        int
		tokens        int64
		want          int64
		from          string
	}{
		"the client":                          {1_000_000, "claude-sonnet-4-5", "claude-sonnet-4-5", 5_000, 50_000, 1_000_000, "client"},
		"the client, without a model":         {300_000, "", "claude-opus-5-5", 0, 50_000, 300_000, "client"},
		"the client, of another model":        {200_000, "claude-haiku-4-5", "claude-opus-5-5", 0, 50_000, 1_000_000, "model"},
		"the model":                           {0, "", "claude-haiku-4-5", 5_000, 50_000, 200_000, "model"},
		"the settings":                        {0, "", "unknown-model", 128_000, 50_000, 128_000, "config"},
		"the settings, exceeded by the usage": {0, "", "unknown-model", 128_000, 150_000, 200_000, "observed"},
		"the usage":                           {0, "", "unknown-model", 0, 250_000, 1_000_000, "observed"},
		"a model, exceeded by the usage":      {0, "", "claude-sonnet-4-5", 0, 350_000, 1_000_000, "observed"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.Window = c.config
			if err := f.Store.Update(t.Context(), session, func(s *usage.Session) bool { s.ClientWindow, s.ClientModel = c.reported, c.reportedModel; return true }); err != nil {
				t.Fatal(err)
			}
			step := f.step(0, c.tokens)
			step.Model = c.model
			if s := f.see(archive.Batch{Steps: []archive.Step{step}}); s.Window != c.want || s.WindowFrom != c.from {
				t.Errorf("%d from %q, want %d from %q", s.Window, s.WindowFrom, c.want, c.from)
			}
		})
	}
}

// TestFindLimits covers the limits; this test covers the record.
func TestLimitsInTheRecord(t *testing.T) {
	f := newFixture(t)
	if s := f.turn(0, 50_000); s.Threshold != 0 || s.Hard != 177_000 || s.Limit != 200_000 || !s.Compacts {
		t.Errorf("default: %+v", s)
	}
	f.env["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = "200000"
	if s := f.turn(1, 50_000); s.Threshold != 167_000 || s.Limit != 167_000 || !s.Compacts {
		t.Errorf("watched: %+v", s)
	}
	f.env["DISABLE_AUTO_COMPACT"] = "1"
	if s := f.turn(2, 50_000); s.Threshold != 0 || s.Limit != 177_000 || s.Compacts {
		t.Errorf("disabled: %+v", s)
	}
}

func TestCompactionEmptiesTheWindow(t *testing.T) {
	f := newFixture(t)
	for turn := range 6 {
		f.turn(turn, int64(100_000+12_000*turn))
	}
	if f.report() == "" {
		t.Fatal("no warning at 160,000 tokens")
	}
	empty := func(s usage.Session) bool {
		return !s.WarningIssued && s.PruneCount == 0 && len(s.History) == 0 && s.Growth == 0 && s.Estimated && s.Zone == "ok"
	}
	if s := f.watch(usage.Observation{Compacted: true, Captured: f.captured}); !empty(s) || s.LastTokenEstimate != 0 {
		t.Errorf("at the hook: %+v", s)
	}
	// The boundary row arrives with the next hook, and again with its summary.
	boundary := archive.Compaction{Session: session, Line: f.line + 1, PreTokens: 160_000, PostTokens: 9_000}
	f.line += 2
	if s := f.see(archive.Batch{Compactions: []archive.Compaction{boundary}}); !empty(s) || s.LastTokenEstimate != 9_000 {
		t.Errorf("at the boundary: %+v", s)
	}
	s := f.see(archive.Batch{Compactions: []archive.Compaction{boundary}, Steps: []archive.Step{f.step(6, 24_000)}})
	if s.LastTokenEstimate != 24_000 || s.Estimated || len(s.History) != 1 {
		t.Errorf("at the next response: %+v", s)
	}
	if s := f.see(archive.Batch{Compactions: []archive.Compaction{boundary}}); s.LastTokenEstimate != 24_000 {
		t.Errorf("counted one compaction twice: %+v", s)
	}
}

// Within a turn, one batch has rows before and after the compaction.
func TestCompactionBetweenResponses(t *testing.T) {
	f := newFixture(t)
	before := f.step(3, 166_000)
	boundary := archive.Compaction{Session: session, Line: f.line + 1, PostTokens: 9_000}
	s := f.see(archive.Batch{Compactions: []archive.Compaction{boundary}, Steps: []archive.Step{before, f.step(3, 30_000)}})
	if s.LastTokenEstimate != 30_000 || len(s.History) != 1 || s.MaxTokens != 166_000 {
		t.Errorf("%+v", s)
	}
	s = f.see(archive.Batch{Steps: []archive.Step{before}})
	if s.LastTokenEstimate != 30_000 {
		t.Errorf("counted a response before the compaction: %+v", s)
	}
}

func TestInvalidModelName(t *testing.T) {
	f := newFixture(t)
	step := f.step(0, 50_000)
	step.Model = "\xff" + strings.Repeat("x", 1000)
	if s := f.see(archive.Batch{Steps: []archive.Step{step}}); s.LastTokenEstimate != 50_000 || len(s.Model) > 110 {
		t.Errorf("%+v", s)
	}
}

// A new generation of a transcript begins at line 0.
func TestNewGeneration(t *testing.T) {
	f := newFixture(t)
	f.line = 1000
	f.turn(0, 50_000)
	f.line = 0
	s := f.see(archive.Batch{Cursor: archive.Cursor{Generation: 2}, Steps: []archive.Step{f.step(0, 20_000)}})
	if s.LastTokenEstimate != 20_000 {
		t.Errorf("%+v", s)
	}
}

func TestContextOfAResumedSession(t *testing.T) {
	f := newFixture(t)
	if s := f.watch(usage.Observation{Context: 80_000, Captured: 500}); s.LastTokenEstimate != 80_000 || !s.Estimated {
		t.Errorf("a fork: %+v", s)
	}
	f.turn(0, 82_000)
	if s := f.watch(usage.Observation{Context: 81_000, Captured: 500}); s.LastTokenEstimate != 82_000 || s.Estimated {
		t.Errorf("the counted usage was replaced: %+v", s)
	}
}

func TestEstimateFromCharacters(t *testing.T) {
	f := newFixture(t)
	row := func(kind, content string) string {
		return `{"type":"` + kind + `","uuid":"` + content[:3] + `","message":{"role":"` + kind + `","content":"` + content + `"}}` + "\n"
	}
	grow := func(rows ...string) usage.Session {
		t.Helper()
		old, err := os.ReadFile(f.path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		text := string(old) + strings.Join(rows, "")
		if err := os.WriteFile(f.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return f.watch(usage.Observation{Captured: int64(len(text))})
	}
	s := grow(row("user", strings.Repeat("é", 700)), row("assistant", strings.Repeat("b", 350)))
	if s.LastTokenEstimate != 300 || !s.Estimated {
		t.Errorf("%d tokens of 1,050 characters, estimated: %v", s.LastTokenEstimate, s.Estimated)
	}
	if s = grow(row("user", strings.Repeat("c", 35))); s.LastTokenEstimate != 310 {
		t.Errorf("%d tokens, want 310", s.LastTokenEstimate)
	}
	if s = f.watch(usage.Observation{Captured: s.CharsTo}); s.LastTokenEstimate != 310 {
		t.Errorf("counted twice: %d", s.LastTokenEstimate)
	}
	boundary := `{"type":"system","subtype":"compact_boundary","uuid":"x"}` + "\n"
	if s = grow(row("user", strings.Repeat("d", 700)), boundary, row("user", strings.Repeat("e", 70))); s.LastTokenEstimate != 20 {
		t.Errorf("after a compaction %d tokens, want 20", s.LastTokenEstimate)
	}
	if err := os.Remove(f.path); err != nil {
		t.Fatal(err)
	}
	if s = f.watch(usage.Observation{Captured: s.CharsTo + 10}); s.LastTokenEstimate != 20 {
		t.Errorf("without a transcript %d tokens, want 20", s.LastTokenEstimate)
	}
	f.captured = s.CharsTo
	if s = f.turn(1, 9_000); s.LastTokenEstimate != 9_000 || s.Estimated {
		t.Errorf("after a response: %+v", s)
	}
}

func TestClockGoesBackwards(t *testing.T) {
	f := newFixture(t)
	for turn := range 4 {
		f.turn(turn, int64(50_000+3_000*turn))
		f.now = f.now.Add(-time.Hour)
	}
	if s := f.state(); s.Growth != 3_000 || s.LastTokenEstimate != 59_000 || len(s.History) != 4 {
		t.Errorf("%+v", s)
	}
}

func TestDamagedRecordIsRebuilt(t *testing.T) {
	f := newFixture(t)
	f.turn(0, 50_000)
	if err := os.WriteFile(filepath.Join(f.Store.Dir, session+".json"), []byte(`{"sessionId":"7f3a`), 0o600); err != nil {
		t.Fatal(err)
	}
	if text := f.report(); text != "" {
		t.Errorf("reported %q", text)
	}
	if s := f.turn(1, 60_000); s.LastTokenEstimate != 60_000 || len(s.History) != 1 {
		t.Errorf("%+v", s)
	}
}

// Two clients of one session append to one transcript. Each hook reads rows of both,
// and the last response counts.
func TestTwoClientsObserveOneSession(t *testing.T) {
	f := newFixture(t)
	a, b := f.step(0, 50_000), f.step(1, 55_000)
	f.see(archive.Batch{Steps: []archive.Step{a, b}})
	f.see(archive.Batch{Steps: []archive.Step{a}}) // the slower hook
	if s := f.state(); s.LastTokenEstimate != 55_000 || len(s.History) != 2 {
		t.Errorf("%+v", s)
	}
}

// The transcript of another client is read through its translator, and names its window.
func TestUsageOfAnotherClient(t *testing.T) {
	f := newFixture(t)
	f.Client = codex.Client()
	got := f.Latest(session, filepath.Join("..", "client", "codex", "testdata", "session.jsonl"))
	if got.LastTokenEstimate != 6_000 || got.Output != 7 || got.Window != 258_400 || got.Threshold != 244_800 {
		t.Errorf("%+v", got)
	}
}
