package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/usage"
	"strandline/internal/view"
)

const (
	testToken = "a-token-of-enough-characters-for-a-test"
	sessionA  = "7f3a12cd-0000-4000-8000-000000000001"
	home      = "http://127.0.0.1:7373"
)

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// fake is an archive that holds one session and notes what it was asked. Err, if
// set, is what every call gives.
type fake struct {
	err      error
	sessions []view.Session
	blocks   []view.Block
	found    recall.Result
	asked    any

	transcript string
	stamp      atomic.Int64
	mu         sync.Mutex
	recent     []view.Session
}

func (f *fake) Projects(context.Context) ([]view.Project, error) {
	return []view.Project{{Key: "dir:/home/dev/shop", Name: "shop", Aliases: []string{}}}, f.err
}

func (f *fake) Sessions(_ context.Context, ask view.SessionsAsk) ([]view.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = ask
	return slices.Clone(f.sessions), f.err
}

func (f *fake) Outline(_ context.Context, session string) (view.Outline, error) {
	f.asked = session
	return view.Outline{Session: view.Session{Session: sessionA, Handle: "7f3a12cd"}, TurnList: []view.Turn{{Handle: "7f3a12cd/0", Title: "Go"}}, Files: []string{}}, f.err
}

func (f *fake) Place(_ context.Context, at archive.Handle) (view.Place, error) {
	f.asked = at
	exit := 1
	return view.Place{Handle: at.String(), Blocks: f.blocks, Calls: []view.Call{{Handle: "7f3a12cd/0.0", ToolID: "t", Name: "Bash", Kind: "command", Command: "go test", Exit: &exit}}}, f.err
}

func (f *fake) Running(context.Context) ([]view.Running, error) {
	return []view.Running{{Session: sessionA, Handle: "7f3a12cd", Share: 0.43, Zone: "ok", History: []usage.Point{}}}, f.err
}

func (f *fake) Timeline(_ context.Context, session string) (view.Timeline, error) {
	f.asked = session
	return view.Timeline{Session: sessionA, Tokens: []int64{1}, Turns: []view.Turn{}, Tasks: []view.Task{}, Segments: []view.Segment{}, Compactions: []view.Cut{}}, f.err
}

func (f *fake) Tasks(_ context.Context, session string, open bool) ([]view.TaskTree, error) {
	f.asked = []any{session, open}
	return []view.TaskTree{{Task: view.Task{ID: "1", Subject: "Go"}, Tasks: []view.TaskTree{{Task: view.Task{ID: "2"}}}}}, f.err
}

func (f *fake) Segments(_ context.Context, session string, pending bool) ([]view.Segment, error) {
	f.asked = []any{session, pending}
	return []view.Segment{{Segment: archive.Segment{ID: "seg-1"}, Tier: archive.TierWarm}}, f.err
}

func (f *fake) SessionFiles(_ context.Context, session string) ([]view.File, error) {
	f.asked = session
	return []view.File{{Path: "retry.go"}}, f.err
}

func (f *fake) FileHistory(_ context.Context, ask view.FilesAsk) ([]view.Touch, int, error) {
	f.asked = ask
	return []view.Touch{{Path: ask.Path}}, 3, f.err
}

func (f *fake) Compactions(_ context.Context, session string, limit int) ([]view.Compaction, error) {
	f.asked = []any{session, limit}
	return []view.Compaction{{Handle: "7f3a12cd/1", Handles: []string{}, Used: []string{}}}, f.err
}

func (f *fake) Restore(_ context.Context, ask view.ContextAsk) (view.Context, error) {
	f.asked = ask
	return view.Context{Text: "what was done", Handles: []string{}}, f.err
}

func (f *fake) Preserve(_ context.Context, ask view.ContextAsk) (view.Context, error) {
	f.asked = ask
	return view.Context{Text: "keep it", Handles: []string{}}, f.err
}

func (f *fake) Stats(_ context.Context, session string) (view.Stats, error) {
	f.asked = session
	return view.Stats{Session: session, Turns: 3}, f.err
}

func (f *fake) Status(context.Context) (view.Status, error) {
	return view.Status{Version: "1.2.3"}, f.err
}

func (f *fake) Search(_ context.Context, ask view.SearchAsk) (recall.Result, error) {
	f.asked = ask
	return f.found, f.err
}

// bytesOf is a transcript in memory.
type bytesOf struct{ *strings.Reader }

func (bytesOf) Close() error { return nil }

func (f *fake) Transcript(_ context.Context, session string, generation int) (view.Transcript, error) {
	f.asked = []any{session, generation}
	return view.Transcript{Session: sessionA, Bytes: bytesOf{strings.NewReader(f.transcript)}, Size: int64(len(f.transcript))}, f.err
}

func (f *fake) Stamp() string { return fmt.Sprint(f.stamp.Load()) }

func (f *fake) Recent(_ context.Context, session string) ([]view.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]view.Session{}, f.recent...), f.err
}

func (f *fake) SaveSnapshot(_ context.Context, d view.SnapshotDraft) (view.Snapshot, error) {
	f.asked = d
	return view.Snapshot{ID: "s1", Session: d.Session, SnapshotFact: d.SnapshotFact}, f.err
}

func (f *fake) Snapshots(_ context.Context, session string) ([]view.SnapshotLine, error) {
	f.asked = session
	return []view.SnapshotLine{{ID: "s1"}}, f.err
}

func (f *fake) Snapshot(_ context.Context, ask view.SnapshotsAsk) (view.Snapshot, error) {
	f.asked = ask
	return view.Snapshot{ID: "s1", SnapshotFact: archive.SnapshotFact{Tasks: []archive.SnapshotTask{{ID: "1", Subject: "Go"}}}}, f.err
}

func (f *fake) SnapshotBrief(_ context.Context, ask view.SnapshotsAsk, role string, budget int) (view.SnapshotBrief, error) {
	f.asked = []any{ask, role, budget}
	return view.SnapshotBrief{ID: "s1", Text: "Go"}, f.err
}

// world is a server on an archive of one's own.
type world struct {
	t       *testing.T
	archive *fake
	log     bytes.Buffer
	server  *Server
}

func newWorld(t *testing.T, change ...func(*Options)) *world {
	t.Helper()
	w := &world{t: t, archive: &fake{}}
	o := Options{
		Version: "1.2.3", Now: noon, Log: slog.New(slog.NewJSONHandler(&w.log, nil)), Archive: w.archive, Token: testToken,
		Redact: func(s string) string { return strings.ReplaceAll(s, "sk-hidden", "[secret]") },
	}
	for _, c := range change {
		c(&o)
	}
	w.server = New(o)
	return w
}

// request is a request with the token; change makes it another one.
func (w *world) request(method, path string, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, home+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+testToken)
	for _, c := range change {
		c(r)
	}
	out := httptest.NewRecorder()
	w.server.Handler().ServeHTTP(out, r)
	return out
}

func (w *world) get(path string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	w.t.Helper()
	return w.request(http.MethodGet, path, "", change...)
}

// header sets a header of a request; "" takes it out.
func header(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Del(name)
		if value != "" {
			r.Header.Set(name, value)
		}
	}
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// decoded reads an answer.
func decoded[T any](t *testing.T, out *httptest.ResponseRecorder) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(out.Body.Bytes(), &v); err != nil {
		t.Fatalf("%d %s: %v", out.Code, out.Body, err)
	}
	return v
}

// problem reads an answer that is one.
func problem(t *testing.T, out *httptest.ResponseRecorder) Problem {
	t.Helper()
	if kind := out.Header().Get("Content-Type"); kind != "application/problem+json" {
		t.Errorf("an error of type %q", kind)
	}
	p := decoded[Problem](t, out)
	if p.Status != out.Code || p.Title == "" || p.Code == "" || p.Detail == "" {
		t.Errorf("%d: %+v", out.Code, p)
	}
	return p
}
