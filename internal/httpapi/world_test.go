package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/recall"
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
}

func (f *fake) Projects(context.Context) ([]view.Project, error) {
	return []view.Project{{Key: "dir:/home/dev/shop", Name: "shop", Aliases: []string{}}}, f.err
}

func (f *fake) Sessions(_ context.Context, ask view.SessionsAsk) ([]view.Session, error) {
	f.asked = ask
	return f.sessions, f.err
}

func (f *fake) Outline(_ context.Context, session string) (view.Outline, error) {
	f.asked = session
	return view.Outline{Session: view.Session{Session: sessionA, Handle: "7f3a12cd"}, TurnList: []view.Turn{{Handle: "7f3a12cd/0", Title: "Go"}}, Files: []string{}}, f.err
}

func (f *fake) Place(_ context.Context, at archive.Handle) ([]view.Block, error) {
	f.asked = at
	return f.blocks, f.err
}

func (f *fake) Search(_ context.Context, ask view.SearchAsk) (recall.Result, error) {
	f.asked = ask
	return f.found, f.err
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
