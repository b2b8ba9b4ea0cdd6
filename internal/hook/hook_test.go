package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/config"
	"strandline/internal/sessionlog"
	"strandline/internal/transcript/claude"
)

const session = "7f3a12cd-0000-4000-8000-000000000001"

// fixture is a hook with a transcript and a fake index; it records its effects.
type fixture struct {
	Env
	index    *fakeIndex
	out      bytes.Buffer
	logged   bytes.Buffer
	detached [][]string
	path     string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir := t.TempDir()
	clock := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { return clock }
	s := &fixture{index: &fakeIndex{}, path: filepath.Join(dir, "projects", "-w", session+".jsonl")}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	cfg := &config.Config{}
	cfg.Hook.Deadline, cfg.Hook.PostToolInterval = 30*time.Second, 10*time.Second
	cfg.Capture.Enabled = true
	cfg.Restore = config.Restore{Budget: 9500, OnClear: config.ModePointer, OnStartup: config.ModePointer}
	cfg.Compaction.InstructionBudget = 9500
	s.Env = Env{
		Stdout: &s.out, Config: cfg, Now: now, Client: claude.Client(),
		Capture: &capture.Capture{
			Layout:  sessionlog.Layout{Root: home},
			Project: func(dir string) archive.Project { return archive.Project{Key: "dir:" + dir} },
			Now:     now,
		},
		Journal:     capture.Journal{Log: sessionlog.Journal{Dir: filepath.Join(home, "journal")}, Redact: strings.ToUpper, Now: now},
		Pending:     capture.Pending{Dir: filepath.Join(home, "state", "pending")},
		OpenIndex:   func(context.Context, bool) (*Index, error) { return whole(s.index), nil },
		Detach:      func(args ...string) error { s.detached = append(s.detached, args); return nil },
		Log:         slog.New(slog.NewTextHandler(&s.logged, nil)),
		LastCapture: func(string) time.Time { return time.Time{} },
	}
	return s
}

// fakeIndex records what is applied and returns the configured rows.
type fakeIndex struct {
	*Index
	applied  []archive.Batch
	journal  []archive.JournalEntry
	fail     error
	passages []archive.Passage
	sessions []archive.Session
	closed   int
	steps    int
	facts    []archive.JournalEntry
	onApply  func()
	onClose  func()
}

func (f *fakeIndex) Known(context.Context, []uint64) (map[uint64]archive.Ref, error) {
	return nil, f.fail
}
func (f *fakeIndex) Apply(_ context.Context, b archive.Batch) error {
	if f.onApply != nil {
		f.onApply()
	}
	f.applied = append(f.applied, b)
	return f.fail
}
func (f *fakeIndex) Cursor(context.Context, string) (archive.Cursor, error) {
	if n := len(f.applied); n > 0 {
		return f.applied[n-1].Cursor, f.fail
	}
	return archive.Cursor{}, f.fail
}
func (f *fakeIndex) JournalCursor(context.Context) ([]byte, error) { return nil, f.fail }
func (f *fakeIndex) ApplyJournal(_ context.Context, e []archive.JournalEntry, _ []byte) error {
	f.journal = e
	return f.fail
}
func (f *fakeIndex) Session(_ context.Context, id string) (archive.Session, error) {
	return archive.Session{ID: id, Turns: 1, Steps: max(f.steps, 1), Lines: 2}, nil
}
func (f *fakeIndex) Facts(context.Context, string, archive.JournalKind) ([]archive.JournalEntry, error) {
	return f.facts, f.fail
}
func (f *fakeIndex) Sessions(context.Context, archive.SessionFilter) ([]archive.Session, error) {
	return f.sessions, nil
}
func (f *fakeIndex) Turns(context.Context, archive.Span) ([]archive.Turn, error) {
	return []archive.Turn{{Session: session, Title: "Fix the retry", LineTo: 2, Steps: 1}}, nil
}
func (f *fakeIndex) Rewound(context.Context, archive.Span) ([]int, error)            { return nil, nil }
func (f *fakeIndex) Steps(context.Context, archive.Span) ([]archive.Step, error)     { return nil, nil }
func (f *fakeIndex) Calls(context.Context, archive.CallSpan) ([]archive.Call, error) { return nil, nil }
func (f *fakeIndex) Files(context.Context, archive.Span) ([]archive.FileTouch, error) {
	return nil, nil
}
func (f *fakeIndex) Tasks(context.Context, archive.Span) ([]archive.TaskEvent, error) {
	return nil, nil
}
func (f *fakeIndex) Compactions(context.Context, archive.Span) ([]archive.Compaction, error) {
	return nil, nil
}
func (f *fakeIndex) Notes(context.Context) ([]archive.Note, error) { return nil, nil }

func (f *fakeIndex) HookSummaries(context.Context, string) ([]archive.HookSummary, error) {
	return nil, nil
}
func (f *fakeIndex) Passages(context.Context, archive.PassageSpan) ([]archive.Passage, error) {
	return f.passages, nil
}
func (f *fakeIndex) Close() error {
	f.closed++
	if f.onClose != nil {
		f.onClose()
	}
	return nil
}

// whole returns an index of one store.
func whole(s interface {
	capture.Index
	compact.Source
	Store
}) *Index {
	return &Index{s, s, s}
}

// send runs one hook.
func (s *fixture) send(t *testing.T, event string, more map[string]string) {
	t.Helper()
	fields := map[string]string{"session_id": session, "transcript_path": s.path, "cwd": "/w", "hook_event_name": event}
	maps.Copy(fields, more)
	data, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	s.Stdin = bytes.NewReader(data)
	Run(t.Context(), s.Env)
}

func (s *fixture) transcript(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(s.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// quiet fails the test when something was logged.
func (s *fixture) quiet(t *testing.T) {
	t.Helper()
	if s.logged.Len() > 0 {
		t.Errorf("logged: %s", s.logged.String())
	}
}

func TestHookLogsThenIndexes(t *testing.T) {
	s := newFixture(t)
	s.transcript(t, "{\"type\":\"mode\"}\n{\"b\":2}\n")
	s.send(t, "SessionEnd", nil)
	s.quiet(t)
	var out bytes.Buffer
	if err := s.Capture.Export(session, 0, &out); err != nil || out.String() != "{\"type\":\"mode\"}\n{\"b\":2}\n" {
		t.Errorf("the log holds %q, %v", out.String(), err)
	}
	if len(s.index.applied) != 1 || s.index.applied[0].Cursor.Offset != 24 {
		t.Errorf("applied %+v", s.index.applied)
	}
	if s.out.Len() > 0 || s.index.closed != 1 || len(s.detached) != 1 {
		t.Errorf("response %q, closed %d times, detached %v", s.out.String(), s.index.closed, s.detached)
	}
}

func TestFailedIndexIsDeferred(t *testing.T) {
	broken := errors.New("locked")
	for name, set := range map[string]func(s *fixture){
		"cannot be opened":  func(s *fixture) { s.OpenIndex = func(context.Context, bool) (*Index, error) { return nil, broken } },
		"cannot be written": func(s *fixture) { s.index.fail = broken },
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			set(s)
			s.transcript(t, "{\"type\":\"mode\"}\n")
			s.send(t, "SessionEnd", nil)
			var out bytes.Buffer
			if err := s.Capture.Export(session, 0, &out); err != nil || out.Len() != 16 {
				t.Errorf("the log holds %q, %v", out.String(), err)
			}
			if len(s.detached) != 1 || !s.Pending.Any() {
				t.Errorf("detached %v, pending %v", s.detached, s.Pending.Any())
			}
			if !strings.Contains(s.logged.String(), "locked") || s.out.Len() > 0 {
				t.Errorf("logged %q, response %q", s.logged.String(), s.out.String())
			}
		})
	}
}

func TestHugeTranscriptIsDeferred(t *testing.T) {
	s := newFixture(t)
	s.Capture.MaxLog = 4
	s.transcript(t, "{\"type\":\"mode\"}\n")
	s.send(t, "SessionEnd", nil)
	s.quiet(t)
	if len(s.detached) != 1 || s.detached[0][0] != "catchup" {
		t.Errorf("detached %v", s.detached)
	}
	work, err := s.Pending.Take()
	if err != nil || len(work) != 1 || work[0].Transcript != s.path {
		t.Errorf("pending %+v, %v", work, err)
	}
}

// The first session to hold a row owns it. While an earlier session is pending,
// later ones, which may have copied its rows, are deferred as well.
func TestSessionsWaitForPendingOnes(t *testing.T) {
	s := newFixture(t)
	if err := s.Pending.Add(capture.PendingWork{Session: "other", Transcript: "/x/other.jsonl"}); err != nil {
		t.Fatal(err)
	}
	s.transcript(t, "{\"type\":\"mode\"}\n")
	s.send(t, "SessionEnd", nil)
	if len(s.index.applied) != 0 || len(s.detached) != 1 {
		t.Errorf("applied %d, detached %v", len(s.index.applied), s.detached)
	}
}

// A client that was killed after its last hook leaves lines that no hook captured;
// the project's next session finds them.
func TestNewSessionFindsMissedLines(t *testing.T) {
	s := newFixture(t)
	other := filepath.Join(filepath.Dir(s.path), "other.jsonl")
	if err := os.WriteFile(other, []byte("{\"type\":\"mode\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.send(t, "SessionStart", map[string]string{"source": "resume"})
	if s.Pending.Any() {
		t.Error("a resumed session looked for missed lines")
	}
	s.send(t, "SessionStart", map[string]string{"source": "startup"})
	s.quiet(t)
	work, err := s.Pending.Take()
	if err != nil || len(work) != 1 || work[0].Transcript != other || len(s.detached) != 1 {
		t.Errorf("pending %+v, %v, detached %v", work, err, s.detached)
	}
}

func TestPostToolUseIsThrottled(t *testing.T) {
	for name, c := range map[string]struct {
		age  time.Duration
		want int
	}{
		"a moment ago":  {2 * time.Second, 0},
		"a while ago":   {11 * time.Second, 1},
		"in the future": {-time.Hour, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			s.LastCapture = func(string) time.Time { return s.Now().Add(-c.age) }
			s.transcript(t, "{\"type\":\"mode\"}\n")
			s.send(t, "PostToolUse", nil)
			if len(s.index.applied) != c.want {
				t.Errorf("applied %d batches, want %d", len(s.index.applied), c.want)
			}
		})
	}
}

func TestTheClientsSummaryIsJournaled(t *testing.T) {
	s := newFixture(t)
	s.send(t, "SubagentStop", map[string]string{"agent_id": "a", "agent_type": "", "last_assistant_message": "<summary>all</summary>"})
	s.quiet(t)
	if len(s.index.journal) != 1 || s.index.journal[0].Kind != archive.JournalSummary {
		t.Fatalf("journal %+v", s.index.journal)
	}
	var fact archive.SummaryFact
	if err := json.Unmarshal(s.index.journal[0].Data, &fact); err != nil || fact.Text != "<SUMMARY>ALL</SUMMARY>" {
		t.Errorf("the index got %+v, %v: not redacted", fact, err)
	}
}

func TestResponseIsJSONAndJournaled(t *testing.T) {
	s := newFixture(t)
	s.index.passages = []archive.Passage{{Session: session, Step: -1, Kind: archive.KindPrompt, Text: "Fix the retry of the payment client", LineTo: 1}}
	s.transcript(t, "{\"type\":\"mode\"}\n")
	s.send(t, "SessionStart", map[string]string{"source": "compact"})
	s.quiet(t)
	var got struct {
		HookSpecificOutput struct{ HookEventName, AdditionalContext string }
	}
	if err := json.Unmarshal(s.out.Bytes(), &got); err != nil {
		t.Fatalf("%v in %q", err, s.out.String())
	}
	if h := got.HookSpecificOutput; h.HookEventName != "SessionStart" || !strings.Contains(h.AdditionalContext, "Fix the retry of the payment client") {
		t.Errorf("response %+v", h)
	}
	entries, _, err := s.Journal.Log.Read(t.Context(), sessionlog.JournalCursor{})
	if err != nil || len(entries) != 2 || entries[0].Kind != archive.JournalInjected || entries[1].Kind != archive.JournalAccess {
		t.Fatalf("journal %+v, %v", entries, err)
	}
	var access archive.AccessFact
	if err := json.Unmarshal(entries[1].Data, &access); err != nil || len(access.Refs) != 1 || access.Refs[0] != (archive.Ref{Session: session, Step: -1}) {
		t.Errorf("access %+v, %v", access, err)
	}
}

// The argument of /compact is redacted.
func TestInstructionsAreRedacted(t *testing.T) {
	s := newFixture(t)
	s.index.passages = []archive.Passage{{
		Session: session, Kind: archive.KindReply, Text: "I decided to use port 18443 because the gateway bans clients that retry.", LineTo: 1,
	}}
	s.transcript(t, "{\"type\":\"mode\"}\n")
	s.send(t, "PreCompact", map[string]string{"trigger": "manual", "custom_instructions": "keep the password"})
	s.quiet(t)
	if out := s.out.String(); !strings.HasPrefix(out, "KEEP THE PASSWORD\n") {
		t.Errorf("response %q", out)
	}
}

// No steering text is written if a gateway answers compactions: no summarizer
// reads it.
func TestNoSteeringTextWithACompactingGateway(t *testing.T) {
	for _, c := range []struct{ active, compacts, want bool }{{true, true, false}, {true, false, true}, {false, true, true}} {
		s := newFixture(t)
		s.Config.Gateway.Active, s.Config.Gateway.Compact = c.active, c.compacts
		s.index.passages = []archive.Passage{{Session: session, Kind: archive.KindReply, Text: "I decided to use port 18443 because the gateway bans clients that retry.", LineTo: 1}}
		s.transcript(t, "{\"type\":\"mode\"}\n")
		s.send(t, "PreCompact", map[string]string{"trigger": "manual", "custom_instructions": "keep the port"})
		s.quiet(t)
		if got := s.out.Len() > 0; got != c.want {
			t.Errorf("%+v: response %q", c, s.out.String())
		}
	}
}

func TestModeOffAddsNothing(t *testing.T) {
	s := newFixture(t)
	s.Config.Restore.OnClear = config.ModeOff
	s.index.sessions = []archive.Session{{ID: "9b1c44ee", Title: "old work", Turns: 1}}
	s.send(t, "SessionStart", map[string]string{"source": "clear"})
	if s.out.Len() > 0 {
		t.Errorf("response %q", s.out.String())
	}
	s.Config.Restore.OnClear = config.ModePointer
	s.send(t, "SessionStart", map[string]string{"source": "clear"})
	if !strings.Contains(s.out.String(), "old work") {
		t.Errorf("response %q", s.out.String())
	}
	s.quiet(t)
}

func TestCaptureCanBeDisabled(t *testing.T) {
	s := newFixture(t)
	s.Config.Capture.Enabled = false
	s.transcript(t, "{\"type\":\"mode\"}\n")
	s.send(t, "Stop", nil)
	if s.Capture.HasLog(session) {
		t.Error("it was captured")
	}
}

// The deadline ends the wait for a client that never closes the pipe.
func TestDeadlineBoundsAnOpenPipe(t *testing.T) {
	s := newFixture(t)
	r, w := io.Pipe()
	defer w.Close()
	s.Stdin = r
	s.Config.Hook.Deadline = time.Millisecond
	Run(t.Context(), s.Env)
	if !strings.Contains(s.logged.String(), "stdin") {
		t.Errorf("logged %q", s.logged.String())
	}
}

// A panic anywhere in the index does not lose the session: it is noted before the
// index is closed, and the background processes start as usual.
func TestPanicIsDeferred(t *testing.T) {
	for name, set := range map[string]func(s *fixture){
		"opening": func(s *fixture) { s.OpenIndex = func(context.Context, bool) (*Index, error) { panic("test panic") } },
		"a typed nil": func(s *fixture) {
			s.OpenIndex = func(context.Context, bool) (*Index, error) { return whole((*fakeIndex)(nil)), nil }
		},
		"reading a line": func(s *fixture) { s.Capture.Redact = func(string) string { panic("test panic") } },
		"writing":        func(s *fixture) { s.index.onApply = func() { panic("test panic") } },
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			set(s)
			s.transcript(t, "{\"type\":\"user\",\"message\":\"hello\"}\n")
			s.send(t, "SessionEnd", nil)
			if log := s.logged.String(); !strings.Contains(log, "panicked") || !strings.Contains(log, "stack=") {
				t.Errorf("logged %q", log)
			}
			if !s.Pending.Any() || len(s.detached) != 1 || len(s.detached[0]) < 2 {
				t.Errorf("pending %v, detached %q", s.Pending.Any(), s.detached)
			}
			if s.out.Len() > 0 {
				t.Errorf("response %q", s.out.String())
			}
		})
	}
}

// The session is noted before the index is closed, which may take long or fail.
func TestPendingIsNotedBeforeClosing(t *testing.T) {
	s := newFixture(t)
	s.index.fail = errors.New("damaged")
	s.index.onClose = func() {
		if !s.Pending.Any() {
			t.Error("closed before the session was noted")
		}
		panic("test panic")
	}
	s.transcript(t, "{\"type\":\"mode\"}\n")
	s.send(t, "SessionEnd", nil)
	if s.index.closed != 1 || len(s.detached) != 1 {
		t.Errorf("closed %d times, detached %q", s.index.closed, s.detached)
	}
}

// The client may end a hook of a turn's end at any time: the catch-up starts first.
func TestCatchUpStartsFirst(t *testing.T) {
	s := newFixture(t)
	s.index.onApply = func() {
		if len(s.detached) != 1 || !slices.Contains(s.detached[0], session) {
			t.Errorf("%q is started when rows are indexed", s.detached)
		}
	}
	s.transcript(t, "{\"type\":\"mode\"}\n")
	s.send(t, "SessionEnd", nil)
	if len(s.index.applied) == 0 || len(s.detached) != 1 {
		t.Errorf("%d batches are indexed, %q is started", len(s.index.applied), s.detached)
	}
}

// Nobody waits for the index at the end of a turn: the catch-up of its rows has started.
func TestStopOnlyLogs(t *testing.T) {
	s := newFixture(t)
	opened := s.counting()
	s.transcript(t, "{\"type\":\"mode\"}\n")
	s.send(t, "Stop", nil)
	s.quiet(t)
	var out bytes.Buffer
	if err := s.Capture.Export(session, 0, &out); err != nil || out.Len() != 16 {
		t.Errorf("the log holds %q, %v", out.String(), err)
	}
	if *opened != 0 || !s.Pending.Any() || len(s.detached) != 1 {
		t.Errorf("the index is opened %d times, pending %t, detached %q", *opened, s.Pending.Any(), s.detached)
	}
}

// Without time left, a hook still notes the session.
func TestHookWithoutTimeIsDeferred(t *testing.T) {
	s := newFixture(t)
	s.transcript(t, "{\"type\":\"mode\"}\n")
	r := run{env: s.Env, payload: payload{Event: "PostToolUse", Session: session, Transcript: s.path, Cwd: "/w"}, log: s.Log}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = r.handle(ctx)
	if !s.Pending.Any() || len(s.detached) != 1 {
		t.Errorf("pending %v, detached %q", s.Pending.Any(), s.detached)
	}
}

func TestCompactionStartsMaintenanceThatIsDue(t *testing.T) {
	for name, c := range map[string]struct {
		event    string
		due      bool
		detached int
	}{
		"before a compaction": {"PreCompact", true, 1},
		"after our own":       {"PostCompact", true, 1},
		"not due":             {"PreCompact", false, 0},
		"another event":       {"SubagentStop", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			s.transcript(t, "{\"type\":\"mode\"}\n")
			s.MaintenanceDue = func() bool { return c.due }
			s.send(t, c.event, map[string]string{"trigger": "auto"})
			if len(s.detached) != c.detached {
				t.Errorf("detached %q", s.detached)
			}
			if c.detached > 0 && !slices.Equal(s.detached[0], []string{"maintain", "--background"}) {
				t.Errorf("detached %q", s.detached)
			}
		})
	}
}

func TestBusyIndexIsLoggedAsInfo(t *testing.T) {
	s := newFixture(t)
	s.transcript(t, "{\"type\":\"mode\"}\n")
	s.OpenIndex = func(context.Context, bool) (*Index, error) {
		return nil, &archive.Error{Code: archive.CodeBusy, Msg: "locked"}
	}
	s.send(t, "SessionEnd", nil)
	if log := s.logged.String(); !strings.Contains(log, "level=INFO") || strings.Contains(log, "ERROR") {
		t.Errorf("logged %q", log)
	}
	if !s.Pending.Any() {
		t.Error("the session is not pending")
	}
}
