package usage_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/transcript/claude"
	"strandline/internal/usage"
)

const autopilotSession = "7f3a12cd-0000-4000-8000-000000000001"

// flight is a autopilotSession under watch.
type flight struct {
	t *testing.T
	usage.Monitor
	now      time.Time
	env      map[string]string
	line     int
	captured int64
	path     string
}

func newFlight(t *testing.T) *flight {
	t.Helper()
	dir := t.TempDir()
	f := &flight{t: t, env: map[string]string{}, now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), path: filepath.Join(dir, "t.jsonl")}
	f.Monitor = usage.Monitor{
		Store: usage.Store{Dir: filepath.Join(dir, "state")}, Zones: usage.Zones{Warn: 0.70, Prune: 0.85},
		Getenv: func(name string) string { return f.env[name] }, Conversation: claude.Conversation,
	}
	return f
}

// see is one hook that brings rows.
func (f *flight) see(b archive.Batch) usage.Session {
	f.t.Helper()
	b.Session.ID = autopilotSession
	f.captured += 1000
	return f.watch(usage.Observation{Captured: f.captured, Batches: []archive.Batch{b}})
}

func (f *flight) watch(x usage.Observation) usage.Session {
	f.t.Helper()
	x.Session, x.Now, x.Transcript = autopilotSession, f.now, f.path
	if err := f.Observe(f.t.Context(), x); err != nil {
		f.t.Fatal(err)
	}
	return f.state()
}

func (f *flight) state() usage.Session {
	f.t.Helper()
	s, ok := f.Store.Session(autopilotSession)
	if !ok {
		f.t.Fatal("there is no state")
	}
	return s
}

// step is a response that found so many tokens in its window.
func (f *flight) step(turn int, tokens int64) archive.Step {
	f.line += 3
	return archive.Step{
		Session: autopilotSession, Turn: turn, Model: "claude-haiku-4-5", LineFrom: f.line, LineTo: f.line + 1,
		Usage: archive.Usage{Input: 12, CacheRead: tokens - 12 - 30, CacheWrite: 30, Output: 100},
	}
}

func (f *flight) turn(turn int, tokens int64) usage.Session {
	f.t.Helper()
	return f.see(archive.Batch{Steps: []archive.Step{f.step(turn, tokens)}})
}

// report is what the model is told, and that it was told.
func (f *flight) report() string {
	f.t.Helper()
	r := f.Report(autopilotSession)
	if r.Delivered != nil {
		if err := r.Delivered(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
	}
	return r.Text
}

func TestTheContextIsWhatTheLastResponseFound(t *testing.T) {
	f := newFlight(t)
	s := f.see(archive.Batch{Steps: []archive.Step{f.step(0, 50_000), f.step(0, 86_700)}})
	if s.LastTokenEstimate != 86_700 || s.LastPercentage != 0.4335 || s.Estimated || s.Window != 200_000 || s.WindowFrom != "model" ||
		s.Zone != "ok" || s.LastCheck != f.now.UnixMilli() || s.Captured != 1000 {
		t.Errorf("%+v", s)
	}
	if len(s.History) != 1 || s.History[0] != (usage.Point{TS: f.now.UnixMilli(), Tokens: 86_700, Pct: 0.4335, Turns: 0}) {
		t.Errorf("history %+v", s.History)
	}
}

func TestWhatSaysNothingOfTheWindow(t *testing.T) {
	for name, spoil := range map[string]func(s *archive.Step){
		"a sub-agent's response":        func(s *archive.Step) { s.Sidechain = true },
		"a failed request":              func(s *archive.Step) { s.APIError = true },
		"a row that was copied":         func(s *archive.Step) { s.Copy = &archive.Ref{} },
		"no usage":                      func(s *archive.Step) { s.Usage = archive.Usage{} },
		"usage of a negative size":      func(s *archive.Step) { s.Usage.CacheRead = -90_000 },
		"more than fits any window":     func(s *archive.Step) { s.Usage.Input = 1 << 50 },
		"output of a negative size":     func(s *archive.Step) { s.Usage.Output = -1 },
		"output that fits no window":    func(s *archive.Step) { s.Usage.Output = 1 << 50 },
		"an older row that comes again": func(s *archive.Step) { s.LineFrom = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFlight(t)
			f.turn(0, 50_000)
			bad := f.step(1, 90_000)
			spoil(&bad)
			if s := f.see(archive.Batch{Steps: []archive.Step{bad}}); s.LastTokenEstimate != 50_000 || len(s.History) != 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestAnotherSessionsRowsAreNotTaken(t *testing.T) {
	f := newFlight(t)
	f.turn(0, 50_000)
	b := archive.Batch{Session: archive.Session{ID: autopilotSession + "~a2c37f95"}, Steps: []archive.Step{f.step(0, 90_000)}}
	if s := f.watch(usage.Observation{Captured: 2, Batches: []archive.Batch{b}}); s.LastTokenEstimate != 50_000 {
		t.Errorf("%+v", s)
	}
}

func TestWhoTellsTheWindow(t *testing.T) {
	for name, c := range map[string]struct {
		told      int64
		toldModel string
		model     string
		config    int
		tokens    int64
		want      int64
		from      string
	}{
		"the client":                           {1_000_000, "claude-sonnet-4-5", "claude-sonnet-4-5", 5_000, 50_000, 1_000_000, "client"},
		"the client, of a model without name":  {300_000, "", "claude-opus-5-5", 0, 50_000, 300_000, "client"},
		"the client, of another model":         {200_000, "claude-haiku-4-5", "claude-opus-5-5", 0, 50_000, 1_000_000, "model"},
		"the model":                            {0, "", "claude-haiku-4-5", 5_000, 50_000, 200_000, "model"},
		"the settings":                         {0, "", "somebody-else", 128_000, 50_000, 128_000, "config"},
		"the settings, with too little":        {0, "", "somebody-else", 128_000, 150_000, 200_000, "observed"},
		"nobody, so what was seen":             {0, "", "somebody-else", 0, 250_000, 1_000_000, "observed"},
		"a model that holds more than it says": {0, "", "claude-sonnet-4-5", 0, 350_000, 1_000_000, "observed"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFlight(t)
			f.Window = c.config
			if err := f.Store.Update(t.Context(), autopilotSession, func(s *usage.Session) bool { s.ClientWindow, s.ClientModel = c.told, c.toldModel; return true }); err != nil {
				t.Fatal(err)
			}
			step := f.step(0, c.tokens)
			step.Model = c.model
			if s := f.see(archive.Batch{Steps: []archive.Step{step}}); s.Window != c.want || s.WindowFrom != c.from {
				t.Errorf("%d told by %q, want %d by %q", s.Window, s.WindowFrom, c.want, c.from)
			}
		})
	}
}

// The limits are those of package window; here it matters that they arrive.
func TestWhereTheClientActs(t *testing.T) {
	f := newFlight(t)
	if s := f.turn(0, 50_000); s.Threshold != 0 || s.Hard != 177_000 || s.Limit != 200_000 || !s.Compacts {
		t.Errorf("by itself: %+v", s)
	}
	f.env["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = "200000"
	if s := f.turn(1, 50_000); s.Threshold != 167_000 || s.Limit != 167_000 || !s.Compacts {
		t.Errorf("watched: %+v", s)
	}
	f.env["DISABLE_AUTO_COMPACT"] = "1"
	if s := f.turn(2, 50_000); s.Threshold != 0 || s.Limit != 177_000 || s.Compacts {
		t.Errorf("switched off: %+v", s)
	}
}

func TestACompactionEmptiesTheWindow(t *testing.T) {
	f := newFlight(t)
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
	// The boundary comes with the next hook, and again when its summary has come.
	boundary := archive.Compaction{Session: autopilotSession, Line: f.line + 1, PreTokens: 160_000, PostTokens: 9_000}
	f.line += 2
	if s := f.see(archive.Batch{Compactions: []archive.Compaction{boundary}}); !empty(s) || s.LastTokenEstimate != 9_000 {
		t.Errorf("at the boundary: %+v", s)
	}
	s := f.see(archive.Batch{Compactions: []archive.Compaction{boundary}, Steps: []archive.Step{f.step(6, 24_000)}})
	if s.LastTokenEstimate != 24_000 || s.Estimated || len(s.History) != 1 {
		t.Errorf("at the next response: %+v", s)
	}
	if s := f.see(archive.Batch{Compactions: []archive.Compaction{boundary}}); s.LastTokenEstimate != 24_000 {
		t.Errorf("cut twice by one compaction: %+v", s)
	}
}

// In the middle of a turn, rows before and behind the cut come at once.
func TestACompactionAmongResponses(t *testing.T) {
	f := newFlight(t)
	before := f.step(3, 166_000)
	cut := archive.Compaction{Session: autopilotSession, Line: f.line + 1, PostTokens: 9_000}
	s := f.see(archive.Batch{Compactions: []archive.Compaction{cut}, Steps: []archive.Step{before, f.step(3, 30_000)}})
	if s.LastTokenEstimate != 30_000 || len(s.History) != 1 || s.MaxTokens != 166_000 {
		t.Errorf("%+v", s)
	}
	s = f.see(archive.Batch{Steps: []archive.Step{before}})
	if s.LastTokenEstimate != 30_000 {
		t.Errorf("a response from before the cut counted: %+v", s)
	}
}

func TestAModelOfAnyName(t *testing.T) {
	f := newFlight(t)
	step := f.step(0, 50_000)
	step.Model = "\xff" + strings.Repeat("x", 1000)
	if s := f.see(archive.Batch{Steps: []archive.Step{step}}); s.LastTokenEstimate != 50_000 || len(s.Model) > 110 {
		t.Errorf("%+v", s)
	}
}

// A transcript that was written anew begins at line 0.
func TestANewGeneration(t *testing.T) {
	f := newFlight(t)
	f.line = 1000
	f.turn(0, 50_000)
	f.line = 0
	s := f.see(archive.Batch{Cursor: archive.Cursor{Generation: 2}, Steps: []archive.Step{f.step(0, 20_000)}})
	if s.LastTokenEstimate != 20_000 {
		t.Errorf("%+v", s)
	}
}

func TestAResumedSessionBringsItsContext(t *testing.T) {
	f := newFlight(t)
	if s := f.watch(usage.Observation{Context: 80_000, Captured: 500}); s.LastTokenEstimate != 80_000 || !s.Estimated {
		t.Errorf("a fork: %+v", s)
	}
	f.turn(0, 82_000)
	if s := f.watch(usage.Observation{Context: 81_000, Captured: 500}); s.LastTokenEstimate != 82_000 || s.Estimated {
		t.Errorf("what was counted is better than what is told: %+v", s)
	}
}

func TestCharactersAreAnEstimate(t *testing.T) {
	f := newFlight(t)
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
	cut := `{"type":"system","subtype":"compact_boundary","uuid":"x"}` + "\n"
	if s = grow(row("user", strings.Repeat("d", 700)), cut, row("user", strings.Repeat("e", 70))); s.LastTokenEstimate != 20 {
		t.Errorf("behind a cut %d tokens, want 20", s.LastTokenEstimate)
	}
	if err := os.Remove(f.path); err != nil {
		t.Fatal(err)
	}
	if s = f.watch(usage.Observation{Captured: s.CharsTo + 10}); s.LastTokenEstimate != 20 {
		t.Errorf("without a transcript %d tokens, want what was known", s.LastTokenEstimate)
	}
	f.captured = s.CharsTo
	if s = f.turn(1, 9_000); s.LastTokenEstimate != 9_000 || s.Estimated {
		t.Errorf("a response says better: %+v", s)
	}
}

func TestAClockThatGoesBackwards(t *testing.T) {
	f := newFlight(t)
	for turn := range 4 {
		f.turn(turn, int64(50_000+3_000*turn))
		f.now = f.now.Add(-time.Hour)
	}
	if s := f.state(); s.Growth != 3_000 || s.LastTokenEstimate != 59_000 || len(s.History) != 4 {
		t.Errorf("%+v", s)
	}
}

func TestATornStateIsMadeAnew(t *testing.T) {
	f := newFlight(t)
	f.turn(0, 50_000)
	if err := os.WriteFile(filepath.Join(f.Store.Dir, autopilotSession+".json"), []byte(`{"sessionId":"7f3a`), 0o600); err != nil {
		t.Fatal(err)
	}
	if text := f.report(); text != "" {
		t.Errorf("said %q", text)
	}
	if s := f.turn(1, 60_000); s.LastTokenEstimate != 60_000 || len(s.History) != 1 {
		t.Errorf("%+v", s)
	}
}

// Two clients at one autopilotSession append to one transcript; each hook sees rows of
// both, and the last response counts.
func TestAutopilotTwoClientsAtOneSession(t *testing.T) {
	f := newFlight(t)
	a, b := f.step(0, 50_000), f.step(1, 55_000)
	f.see(archive.Batch{Steps: []archive.Step{a, b}})
	f.see(archive.Batch{Steps: []archive.Step{a}}) // the slower hook
	if s := f.state(); s.LastTokenEstimate != 55_000 || len(s.History) != 2 {
		t.Errorf("%+v", s)
	}
}
