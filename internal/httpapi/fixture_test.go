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

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/task"
	"strandline/internal/usage"
)

const (
	testToken = "a-token-of-enough-characters-for-a-test"
	sessionA  = "7f3a12cd-0000-4000-8000-000000000001"
	home      = "http://127.0.0.1:7373"
)

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// fake is an archive that returns fixed values and records the last request. Every
// method returns err.
type fake struct {
	err      error
	sessions []app.Session
	blocks   []app.Block
	found    recall.Result
	request  any

	transcript string
	stamp      atomic.Int64
	mu         sync.Mutex
	recent     []app.Session
}

func (f *fake) Projects(context.Context) ([]app.Project, error) {
	return []app.Project{{Key: "dir:/home/dev/shop", Name: "shop", ProjectSummary: archive.ProjectSummary{Aliases: []string{}}}}, f.err
}

func (f *fake) Sessions(_ context.Context, q app.SessionsQuery) ([]app.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.request = q
	return slices.Clone(f.sessions), f.err
}

func (f *fake) Outline(_ context.Context, session string) (app.Outline, error) {
	f.request = session
	return app.Outline{Session: app.Session{ID: sessionA, Handle: "7f3a12cd"}, TurnList: []app.Turn{{Handle: "7f3a12cd/0", Turn: archive.Turn{Title: "Go"}}}, Files: []string{}}, f.err
}

func (f *fake) Place(_ context.Context, at archive.Handle) (app.Place, error) {
	f.request = at
	exit := 1
	return app.Place{Handle: at.String(), Blocks: f.blocks, Calls: []app.Call{{
		Handle: "7f3a12cd/0.0", Call: archive.Call{ToolID: "t", Name: "Bash", Kind: "command", Command: "go test", Exit: &exit},
	}}}, f.err
}

func (f *fake) Running(context.Context) ([]app.Running, error) {
	return []app.Running{{Session: sessionA, Handle: "7f3a12cd", Share: 0.43, Zone: "ok", History: []usage.Point{}}}, f.err
}

func (f *fake) Timeline(_ context.Context, session string) (app.Timeline, error) {
	f.request = session
	return app.Timeline{Session: sessionA, Tokens: []int64{1}, Turns: []app.Turn{}, Tasks: []app.Task{}, Segments: []app.Segment{}, Compactions: []app.TimelineCompaction{}}, f.err
}

func (f *fake) Tasks(_ context.Context, session string, open bool) ([]app.TaskTree, error) {
	f.request = []any{session, open}
	return []app.TaskTree{{Task: app.Task{Task: task.Task{ID: "1", Subject: "Go"}}, Tasks: []app.TaskTree{{Task: app.Task{Task: task.Task{ID: "2"}}}}}}, f.err
}

func (f *fake) Segments(_ context.Context, q app.SegmentsQuery) ([]app.Segment, error) {
	f.request = q
	return []app.Segment{{Segment: archive.Segment{ID: "seg-1"}, Tier: archive.TierWarm}}, f.err
}

func (f *fake) SessionFiles(_ context.Context, session string, _ int) ([]app.File, error) {
	f.request = session
	return []app.File{{Path: "retry.go"}}, f.err
}

func (f *fake) FileHistory(_ context.Context, q app.FilesQuery) (app.FileHistory, error) {
	f.request = q
	return app.FileHistory{Items: []app.Touch{{Path: q.Path}}, Older: 3}, f.err
}

func (f *fake) Compactions(_ context.Context, q app.CompactionsQuery) ([]app.Compaction, error) {
	f.request = q
	return []app.Compaction{{Handle: "7f3a12cd/1", Handles: []string{}, Used: []string{}}}, f.err
}

func (f *fake) Compaction(_ context.Context, session string, index int) (app.CompactionAccount, error) {
	f.request = []any{session, index}
	none := []app.NeededTerm{}
	return app.CompactionAccount{
		Compaction: app.Compaction{Handle: "7f3a12cd/1", Handles: []string{}, Used: []string{}}, KeptTerms: none, RestoredTerms: none, LostTerms: []app.NeededTerm{{Text: "maxBackoff", Used: "7f3a12cd/2.0"}},
	}, f.err
}

func (f *fake) Digests(_ context.Context, sessions []string) ([]app.Digest, error) {
	f.request = sessions
	return []app.Digest{{Session: sessionA, Tokens: []int64{1, 2}, Outcome: "committed"}}, f.err
}

func (f *fake) Turns(_ context.Context, session string, from, limit int) (app.TurnPage, error) {
	f.request = []any{session, from, limit}
	return app.TurnPage{
		Session: app.Session{ID: sessionA, Handle: "7f3a12cd", Session: archive.Session{Turns: 1}}, Total: 1, Files: []string{},
		Page: []app.TurnSummary{{Handle: "7f3a12cd/0", Title: "Go", Compactions: []app.TimelineCompaction{}}},
	}, f.err
}

func (f *fake) Curve(_ context.Context, session string) (app.Curve, error) {
	f.request = session
	return app.Curve{Session: sessionA, Points: []app.CurvePoint{{Handle: "7f3a12cd/0.0", Tokens: 1}}, Compactions: []app.TimelineCompaction{}}, f.err
}

func (f *fake) Image(_ context.Context, session string, line, n int) (app.Image, error) {
	f.request = []any{session, line, n}
	return app.Image{Media: "image/png", Data: []byte("\x89PNG")}, f.err
}

func (f *fake) Restore(_ context.Context, q app.ContextQuery) (app.Context, error) {
	f.request = q
	return app.Context{Text: "what was done", Handles: []string{}}, f.err
}

func (f *fake) Preserve(_ context.Context, q app.ContextQuery) (app.Context, error) {
	f.request = q
	return app.Context{Text: "keep it", Handles: []string{}}, f.err
}

func (f *fake) Stats(_ context.Context, q app.StatsQuery) (app.Stats, error) {
	f.request = q
	return app.Stats{Session: q.Session, Totals: archive.Totals{Turns: 3}}, f.err
}

func (f *fake) Status(context.Context) (app.Status, error) {
	return app.Status{Version: "1.2.3"}, f.err
}

func (f *fake) Search(_ context.Context, q app.SearchQuery) (recall.Result, error) {
	f.request = q
	return f.found, f.err
}

// bytesOf is an in-memory transcript.
type bytesOf struct{ *strings.Reader }

func (bytesOf) Close() error { return nil }

func (f *fake) Transcript(_ context.Context, session string, generation int) (app.Transcript, error) {
	f.request = []any{session, generation}
	return app.Transcript{Session: sessionA, Bytes: bytesOf{strings.NewReader(f.transcript)}, Size: int64(len(f.transcript))}, f.err
}

func (f *fake) Stamp() string { return fmt.Sprint(f.stamp.Load()) }

func (f *fake) Recent(_ context.Context, session string) ([]app.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]app.Session{}, f.recent...), f.err
}

func (f *fake) SaveSnapshot(_ context.Context, d app.SnapshotDraft) (app.Snapshot, error) {
	f.request = d
	return app.Snapshot{ID: "s1", Session: d.Session, SnapshotFact: d.SnapshotFact}, f.err
}

func (f *fake) Snapshots(_ context.Context, session string) ([]app.SnapshotLine, error) {
	f.request = session
	return []app.SnapshotLine{{ID: "s1"}}, f.err
}

func (f *fake) Snapshot(_ context.Context, q app.SnapshotQuery) (app.Snapshot, error) {
	f.request = q
	return app.Snapshot{ID: "s1", SnapshotFact: archive.SnapshotFact{Tasks: []archive.SnapshotTask{{ID: "1", Subject: "Go"}}}}, f.err
}

func (f *fake) SnapshotBrief(_ context.Context, q app.SnapshotQuery, role string, budget int) (app.SnapshotBrief, error) {
	f.request = []any{q, role, budget}
	return app.SnapshotBrief{ID: "s1", Text: "Go"}, f.err
}

// fixture is a server with a fake archive.
type fixture struct {
	t       *testing.T
	archive *fake
	log     bytes.Buffer
	server  *Server
}

func newFixture(t *testing.T, change ...func(*Options)) *fixture {
	t.Helper()
	w := &fixture{t: t, archive: &fake{}}
	o := Options{
		Version: "1.2.3", Now: noon, Log: slog.New(slog.NewJSONHandler(&w.log, nil)), Archive: Archive{w.archive, w.archive, w.archive, nil}, Token: testToken,
		Redact: func(s string) string { return strings.ReplaceAll(s, "sk-hidden", "[secret]") },
	}
	for _, c := range change {
		c(&o)
	}
	w.server = New(o)
	return w
}

// request sends a request with the token, after change.
func (w *fixture) request(method, path string, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, home+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+testToken)
	for _, c := range change {
		c(r)
	}
	out := httptest.NewRecorder()
	w.server.ServeHTTP(out, r)
	return out
}

func (w *fixture) get(path string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	w.t.Helper()
	return w.request(http.MethodGet, path, "", change...)
}

// header sets a header of a request; "" removes it.
func header(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Del(name)
		if value != "" {
			r.Header.Set(name, value)
		}
	}
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// decoded decodes a response.
func decoded[T any](t *testing.T, out *httptest.ResponseRecorder) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(out.Body.Bytes(), &v); err != nil {
		t.Fatalf("%d %s: %v", out.Code, out.Body, err)
	}
	return v
}

// problem decodes an error response.
func problem(t *testing.T, out *httptest.ResponseRecorder) Problem {
	t.Helper()
	if kind := out.Header().Get("Content-Type"); kind != "application/problem+json" {
		t.Errorf("error of type %q", kind)
	}
	p := decoded[Problem](t, out)
	if p.Status != out.Code || p.Title == "" || p.Code == "" || p.Detail == "" {
		t.Errorf("%d: %+v", out.Code, p)
	}
	return p
}
