package httpapi

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
)

func TestSessionPages(t *testing.T) {
	w := newFixture(t)
	for i := range 120 {
		w.archive.sessions = append(w.archive.sessions, app.Session{ID: fmt.Sprint(i)})
	}
	var got []string
	path := "/api/v1/sessions?limit=50"
	for pages := 0; ; pages++ {
		out := decoded[page[app.Session]](t, w.get(path))
		for _, s := range out.Items {
			got = append(got, s.ID)
		}
		if out.Next == "" {
			if pages != 2 {
				t.Errorf("%d pages", pages+1)
			}
			break
		}
		path = "/api/v1/sessions?limit=50&cursor=" + out.Next
	}
	if len(got) != 120 || got[0] != "0" || got[119] != "119" {
		t.Errorf("%d sessions: %v", len(got), got)
	}
}

func TestParametersReachTheArchive(t *testing.T) {
	week := noon().Add(-7 * 24 * time.Hour)
	for _, c := range []struct {
		path string
		want any
	}{
		{"/sessions", app.SessionsQuery{Scope: app.Scope{All: true}}},
		{"/sessions?project=shop&agents&since=7d&parent=7f3a12cd", app.SessionsQuery{Scope: app.Scope{All: true, Name: "shop"}, Parent: "7f3a12cd", Agents: true, Since: week}},
		{"/sessions?agents=false", app.SessionsQuery{Scope: app.Scope{All: true}}},
		{"/sessions/7f3a12cd~a2c37f95", "7f3a12cd~a2c37f95"},
		{"/sessions/7f3a12cd/turns/12", archive.Handle{Session: "7f3a12cd", Turn: 12, Step: -1}},
		{"/sessions/7f3a12cd/turns/12.3", archive.Handle{Session: "7f3a12cd", Turn: 12, Step: 3}},
		{"/sessions/7f3a12cd/timeline", "7f3a12cd"},
		{"/sessions/7f3a12cd/tasks", []any{"7f3a12cd", false}},
		{"/sessions/7f3a12cd/tasks?open", []any{"7f3a12cd", true}},
		{"/sessions/7f3a12cd/segments?pending", app.SegmentsQuery{Session: "7f3a12cd", Pending: true}},
		{"/segments", app.SegmentsQuery{All: true}},
		{"/sessions/7f3a12cd/files", "7f3a12cd"},
		{"/files?path=pay/retry.go", app.FilesQuery{Path: "pay/retry.go", Scope: app.Scope{All: true}, Limit: defaultPage}},
		{"/files?path=a&project=shop&session=7f3a12cd&since=7d&reads&limit=3", app.FilesQuery{Path: "a", Scope: app.Scope{All: true, Name: "shop"}, Session: "7f3a12cd", Since: week, Reads: true, Limit: 3}},
		{"/sessions/7f3a12cd/compactions", app.CompactionsQuery{Session: "7f3a12cd"}},
		{"/compactions?limit=7", app.CompactionsQuery{Scope: app.Scope{All: true}, Limit: 7}},
		{"/sessions/7f3a12cd/restore", app.ContextQuery{Session: "7f3a12cd"}},
		{"/sessions/7f3a12cd/restore?role=developer&budget=8000&at_line=12", app.ContextQuery{Session: "7f3a12cd", Role: "developer", Budget: new(8000), AtLine: 12}},
		{"/sessions/7f3a12cd/preserve?budget=2000", app.ContextQuery{Session: "7f3a12cd", Budget: new(2000)}},
		{"/sessions/7f3a12cd/stats", app.StatsQuery{Scope: app.Scope{All: true}, Session: "7f3a12cd"}},
		{"/stats?project=shop&since=7d", app.StatsQuery{Scope: app.Scope{All: true, Name: "shop"}, Since: week}},
		{"/snapshots?session=7f3a12cd", "7f3a12cd"},
		{"/snapshots/s1", app.SnapshotQuery{ID: "s1"}},
		{"/snapshots/latest?session=7f3a12cd", app.SnapshotQuery{ID: "latest", Session: "7f3a12cd"}},
		{"/snapshots/s1/brief?role=auto&budget=4000", []any{app.SnapshotQuery{ID: "s1"}, "auto", 4000}},
		{"/search?q=retry", app.SearchQuery{Text: "retry", Scope: app.Scope{All: true}, Limit: searchHits + 1}},
		{"/search?q=a+%22b+c%22&project=shop&session=7f3a12cd&since=7d&kind=edit&kind=reply&agents=true&rewound&deep&explain&limit=5&cursor=" + cursorAt(10),
			app.SearchQuery{Text: `a "b c"`, Scope: app.Scope{All: true, Name: "shop"}, Session: "7f3a12cd", Since: week, Kinds: []archive.PassageKind{archive.KindEdit, archive.KindReply},
				Agents: true, Rewound: true, Deep: true, Explain: true, Limit: 16}},
	} {
		w := newFixture(t)
		if out := w.get("/api/v1" + c.path); out.Code != 200 {
			t.Errorf("%s: %d %s", c.path, out.Code, out.Body)
		} else if !reflect.DeepEqual(w.archive.request, c.want) {
			t.Errorf("%s requested\n%+v, want\n%+v", c.path, w.archive.request, c.want)
		}
	}
}

func TestInvalidParametersAreRefused(t *testing.T) {
	for _, path := range []string{
		"/sessions?lmit=3", "/sessions?limit=0", "/sessions?limit=501", "/sessions?limit=x", "/sessions?limit=3&limit=4", "/sessions?since=soon",
		"/sessions?agents=perhaps", "/sessions?parent=a/b", "/sessions?cursor=zz", "/sessions?cursor=" + cursorAt(-1), "/sessions?%zz", "/sessions?project=%00",
		"/search", "/search?q=", "/search?q=a&kind=thought", "/search?q=a&since=later", "/search?q=" + strings.Repeat("x", maxText+1), "/projects?x",
		"/sessions/7f3a12cd/turns/twelve", "/files", "/files?path=", "/sessions/7f3a12cd/restore?role=king", "/sessions/7f3a12cd/restore?budget=-1",
		"/sessions/7f3a12cd/preserve?role=developer", "/compactions?limit=0", "/sessions/7f3a12cd/tasks?open=maybe",
	} {
		w := newFixture(t)
		out := w.get("/api/v1" + path)
		if out.Code != 400 {
			t.Errorf("%s: %d %s", path, out.Code, out.Body)
			continue
		}
		if p := problem(t, out); p.Code != archive.CodeInvalid {
			t.Errorf("%s: %+v", path, p)
		}
		if w.archive.request != nil {
			t.Errorf("%s: the archive was read", path)
		}
	}
}

func TestErrorsKeepTheirCodeAndHint(t *testing.T) {
	for code, status := range map[archive.Code]int{
		archive.CodeInvalid: 400, archive.CodeNotFound: 404, archive.CodeAmbiguous: 409, archive.CodeBusy: 503, archive.CodeDenied: 403,
		archive.CodeCorrupt: 500, archive.CodeInternal: 500,
	} {
		w := newFixture(t)
		w.archive.err = fmt.Errorf("read: %w", &archive.Error{Code: code, Msg: "the message", Hint: "use sk-hidden"})
		out := w.get("/api/v1/sessions")
		p := problem(t, out)
		if out.Code != status || p.Code != code || p.Detail != "the message" || p.Hint != "use [secret]" {
			t.Errorf("%s: %d %+v", code, out.Code, p)
		}
		if busy := out.Header().Get("Retry-After") != ""; busy != (code == archive.CodeBusy) {
			t.Errorf("%s: Retry-After: %v", code, busy)
		}
	}
}

// Details of internal errors are logged, not sent.
func TestInternalErrorsAreHidden(t *testing.T) {
	w := newFixture(t)
	w.archive.err = errors.New("open /home/dev/secret/index.db: disk failure")
	out := w.get("/api/v1/sessions")
	if out.Code != 500 || strings.Contains(out.Body.String(), "failure") || !strings.Contains(w.log.String(), "disk failure") {
		t.Errorf("%d %s\n%s", out.Code, out.Body, w.log.String())
	}
	w = newFixture(t)
	w.archive.err = fmt.Errorf("read: %w", context.DeadlineExceeded)
	if out := w.get("/api/v1/sessions"); out.Code != 503 {
		t.Errorf("timeout: %d", out.Code)
	}
}

func TestResponsesAreRedacted(t *testing.T) {
	w := newFixture(t)
	w.archive.sessions = []app.Session{{Session: archive.Session{Title: "the key is sk-hidden"}}}
	w.archive.blocks = []app.Block{{Kind: "reply", Text: "sk-hidden"}}
	w.archive.found = recall.Result{
		Query: "sk-hidden", Notes: []string{"sk-hidden"}, Terms: []archive.Term{{Text: "key"}},
		Hits: []recall.Hit{{Text: "the key sk-hidden", Project: "sk-hidden", Explanation: &recall.Explanation{}}},
	}
	for _, path := range []string{"/sessions", "/sessions/7f3a12cd/turns/0", "/search?q=sk-hidden", "/search?q=x&project=sk-hidden&kind=sk-hidden"} {
		out := w.get("/api/v1" + path)
		if body := out.Body.String(); strings.Contains(body, "sk-hidden") || !strings.Contains(body, "[secret]") {
			t.Errorf("%s: %s", path, body)
		}
	}
}

func TestSearchSnippets(t *testing.T) {
	w := newFixture(t)
	w.archive.found = recall.Result{
		Query: "retry", Terms: []archive.Term{{Text: "retry"}},
		Hits: []recall.Hit{{Handle: "7f3a12cd/1", Text: "😀 the retry doubles", Kind: archive.KindReply}, {Handle: "7f3a12cd/2", Text: "retry"}, {Handle: "7f3a12cd/3"}},
	}
	out := decoded[searchAnswer](t, w.get("/api/v1/search?q=retry&limit=2"))
	if len(out.Hits) != 2 || out.Next == "" {
		t.Fatalf("%+v", out)
	}
	h := out.Hits[0]
	if h.Snippet != "😀 the retry doubles" || !reflect.DeepEqual(h.Marks, [][2]int{{7, 12}}) {
		t.Errorf("%q %v", h.Snippet, h.Marks)
	}
	out = decoded[searchAnswer](t, w.get("/api/v1/search?q=retry&limit=2&cursor="+out.Next))
	if len(out.Hits) != 1 || out.Hits[0].Handle != "7f3a12cd/3" || out.Next != "" {
		t.Errorf("second page: %+v", out)
	}
	out = decoded[searchAnswer](t, w.get("/api/v1/search?q=retry&cursor="+cursorAt(400)))
	if out.Hits == nil || len(out.Hits) != 0 {
		t.Errorf("after the last page: %+v", out)
	}
}

func TestOtherMethodsAreRefused(t *testing.T) {
	w := newFixture(t)
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS"} {
		out := w.request(method, "/api/v1/sessions", "")
		if out.Code != 405 || out.Header().Get("Allow") != "GET" || problem(t, out).Hint != "use GET" {
			t.Errorf("%s: %d, allowed: %q", method, out.Code, out.Header().Get("Allow"))
		}
	}
	if out := w.request("POST", "/api/v1/nowhere", ""); out.Code != 404 {
		t.Errorf("%d", out.Code)
	}
}

func FuzzQueries(f *testing.F) {
	for _, path := range []string{"sessions?limit=3", "search?q=a&kind=edit", "sessions/7f3a12cd/turns/1.2", "sessions/%2e%2e/turns/1", "search?q=%00", "sessions?cursor=bzI", "x?&&="} {
		f.Add(path)
	}
	w := &fixture{archive: &fake{}}
	f.Fuzz(func(t *testing.T, path string) {
		if strings.ContainsAny(path, " \t\r\n#") || strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Skip("not valid in a request line")
		}
		w = newFixture(t)
		defer func() {
			if r := recover(); r != nil && !strings.Contains(fmt.Sprint(r), "invalid NewRequest") {
				panic(r)
			}
		}()
		out := w.get("/api/v1/" + path)
		switch out.Code {
		case 200, 301, 307, 400, 404, 405:
		default:
			t.Errorf("%s: %d %s", path, out.Code, out.Body)
		}
	})
}
