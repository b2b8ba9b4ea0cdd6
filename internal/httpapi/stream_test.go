package httpapi

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
)

func TestExportNeedsExact(t *testing.T) {
	w := newFixture(t)
	w.archive.transcript = "sk-hidden"
	out := w.get("/api/v1/sessions/7f3a12cd/transcript")
	if p := problem(t, out); out.Code != 403 || p.Code != archive.CodeDenied || !strings.Contains(p.Hint, "--exact") || w.archive.request != nil {
		t.Errorf("%d %+v", out.Code, p)
	}
}

func TestExportIsExact(t *testing.T) {
	w := newFixture(t, func(o *Options) { o.Exact = true })
	w.archive.transcript = strings.Repeat("{\"type\":\"user\"}\n", 200_000)
	sum := sha256.Sum256([]byte(w.archive.transcript))
	tag := `"` + hex.EncodeToString(sum[:]) + `"`
	const path = "/api/v1/sessions/7f3a12cd/transcript"
	for _, c := range []struct {
		name   string
		change []func(*http.Request)
		status int
		body   string
	}{
		{"whole", nil, 200, w.archive.transcript},
		{"range", []func(*http.Request){header("Range", "bytes=15-19")}, 206, w.archive.transcript[15:20]},
		{"resume", []func(*http.Request){header("Range", "bytes=2999990-"), header("If-Range", tag)}, 206, w.archive.transcript[2999990:]},
		{"resume of a changed transcript", []func(*http.Request){header("Range", "bytes=2999990-"), header("If-Range", `"other"`)}, 200, w.archive.transcript},
		{"cached", []func(*http.Request){header("If-None-Match", tag)}, 304, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := w.get(path, c.change...)
			if out.Code != c.status || out.Body.String() != c.body || out.Header().Get("ETag") != tag {
				t.Errorf("%d, %d bytes, %s", out.Code, out.Body.Len(), out.Header().Get("ETag"))
			}
		})
	}
	if out := w.get(path, header("Range", "bytes=9999999-")); out.Code != 416 {
		t.Errorf("range after the end: %d", out.Code)
	}
	if name := w.get(path).Header().Get("Content-Disposition"); name != "attachment; filename="+sessionA+".jsonl" {
		t.Error(name)
	}
}

func TestRequestBodies(t *testing.T) {
	js := header("Content-Type", "application/json")
	for _, c := range []struct {
		name, body string
		change     func(*http.Request)
		status     int
	}{
		{"a snapshot", `{"session":"7f3a12cd","summary":"so far","tasks":[{"id":"1","subject":"Go"}]}`, js, 201},
		{"with a charset", `{"session":"7f3a12cd"}`, header("Content-Type", "application/json; charset=utf-8"), 201},
		{"a form", `session=7f3a12cd`, header("Content-Type", "application/x-www-form-urlencoded"), 400},
		{"plain text, which other sites can send", `{"session":"7f3a12cd"}`, header("Content-Type", "text/plain"), 400},
		{"no type", `{"session":"7f3a12cd"}`, header("Content-Type", ""), 400},
		{"an unknown field", `{"session":"7f3a12cd","summry":"x"}`, js, 400},
		{"wrong type", `{"session":["7f3a12cd"]}`, js, 400},
		{"two values", `{"session":"7f3a12cd"} {}`, js, 400},
		{"truncated", `{"session":`, js, 400},
		{"empty", ``, js, 400},
		{"too large", `{"session":"` + strings.Repeat("x", maxBody) + `"}`, js, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			out := w.request(http.MethodPost, "/api/v1/snapshots", c.body, c.change)
			if out.Code != c.status {
				t.Errorf("%d %s", out.Code, out.Body)
			}
			if (w.archive.request != nil) != (c.status == 201) {
				t.Errorf("the archive was called: %v", w.archive.request)
			}
		})
	}
}

// listen serves the fixture on a free port until end is called or the test ends.
func (w *fixture) listen() (url string, end func() error) {
	w.t.Helper()
	w.server.opts.Now = time.Now // connections have deadlines of the real clock
	ctx, cancel := context.WithCancel(w.t.Context())
	ln, err := Listen(ctx, "127.0.0.1:0", false)
	if err != nil {
		w.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- w.server.Run(ctx, ln) }()
	end = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	w.t.Cleanup(func() { _ = end() })
	return URL(ln.Addr()), end
}

// open sends a request over the network. The body is closed when the test ends.
func (w *fixture) open(url string) (status int, body io.Reader) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	out, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { out.Body.Close() })
	return out.StatusCode, out.Body
}

func TestEventStream(t *testing.T) {
	w := newFixture(t)
	w.server.interval = time.Millisecond
	w.archive.recent = []app.Session{{ID: sessionA, Session: archive.Session{Turns: 2, Steps: 5}}}
	url, end := w.listen()
	_, body := w.open(url + "/api/v1/events")
	in := bufio.NewReader(body)
	line := func() string {
		text, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("%q, %v", text, err)
		}
		return text
	}
	if got := line() + line(); got != "retry: 2000\n\n" {
		t.Errorf("%q", got)
	}
	grow := func(s app.Session) {
		w.archive.mu.Lock()
		w.archive.recent = []app.Session{s}
		w.archive.mu.Unlock()
		w.archive.stamp.Add(1)
	}
	w.archive.stamp.Add(1) // another write: no event
	for _, s := range []app.Session{
		{ID: sessionA, Session: archive.Session{Turns: 3, Steps: 6, Title: "sk-hidden"}}, {ID: "another", Session: archive.Session{Turns: 1}},
	} {
		grow(s)
		if got := line(); got != "event: turns\n" {
			t.Fatalf("%q", got)
		}
		data, _ := strings.CutPrefix(line(), "data: ")
		var g grown
		if err := json.Unmarshal([]byte(data), &g); err != nil || g.Session.ID != s.ID || strings.Contains(data, "sk-hidden") {
			t.Errorf("%v: %s", err, data)
		}
		if want := map[string]int{sessionA: 1, "another": 0}[s.ID]; g.FromTurn != want {
			t.Errorf("from turn %d, want %d", g.FromTurn, want)
		}
		line()
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("the stream ended with %q, %v", rest, err)
	}
}

func TestStreamsAreLimited(t *testing.T) {
	w := newFixture(t)
	url, _ := w.listen()
	for range maxStreams {
		w.open(url + "/api/v1/events")
	}
	if status, _ := w.open(url + "/api/v1/events"); status != 503 {
		t.Errorf("%d", status)
	}
	if status, _ := w.open(url + "/api/v1/sessions"); status != 200 {
		t.Errorf("blocked by streams: %d", status)
	}
}

// A stream of an unknown session is an error, not an empty stream.
func TestStreamOfUnknownSession(t *testing.T) {
	w := newFixture(t)
	w.archive.err = archive.NotFound("no such session", "")
	if out := w.get("/api/v1/events?session=ffffffff"); out.Code != 404 {
		t.Errorf("%d", out.Code)
	}
}

func TestConcurrentRequests(t *testing.T) {
	w := newFixture(t)
	w.archive.sessions = []app.Session{{Session: archive.Session{Title: "the key is sk-hidden"}}}
	url, _ := w.listen()
	var all sync.WaitGroup
	for range 4 * maxReaders {
		all.Go(func() {
			for _, path := range []string{"/sessions", "/projects", "/health", "/openapi.json"} {
				out := httptest.NewRecorder()
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/v1"+path, nil)
				r.Header.Set("Authorization", "Bearer "+testToken)
				w.server.ServeHTTP(out, r)
				if out.Code != 200 {
					t.Errorf("%s: %d", path, out.Code)
				}
			}
		})
	}
	all.Wait()
}

func TestListenErrors(t *testing.T) {
	ln, err := Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for addr, code := range map[string]archive.Code{
		ln.Addr().String(): archive.CodeBusy, "nonsense": archive.CodeInvalid, "127.0.0.1:99999": archive.CodeDenied,
		"0.0.0.0:0": archive.CodeInvalid, "192.168.1.5:80": archive.CodeInvalid, "example.org:80": archive.CodeInvalid, ":0": archive.CodeInvalid,
	} {
		other, err := Listen(t.Context(), addr, false)
		if err == nil {
			other.Close()
		}
		if archive.ErrorCode(err) != code || archive.ErrorHint(err) == "" {
			t.Errorf("%s: %v", addr, err)
		}
	}
}
