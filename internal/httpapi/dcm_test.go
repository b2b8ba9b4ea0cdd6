package httpapi

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"strandline/internal/app"
	"strandline/internal/archive"
)

// records is a store of records in memory.
type records struct {
	rows map[string]app.Record
	err  error
}

func (f *records) Records(_ context.Context, q app.RecordQuery) (list []app.Record, n int, err error) {
	for key, rec := range f.rows {
		if strings.HasPrefix(key, q.Table+" ") && (q.ID == "" || rec["id"] == q.ID) {
			list = append(list, maps.Clone(rec))
		}
	}
	return list, len(list), f.err
}

func (f *records) PostRecord(_ context.Context, table, id, session string, fields app.Record) (app.Record, error) {
	if id == "" {
		id = session + ".p1"
	}
	rec := f.rows[table+" "+id]
	if rec == nil {
		rec = app.Record{"id": id}
		f.rows[table+" "+id] = rec
	}
	maps.Copy(rec, fields)
	return rec, f.err
}

func (f *records) ProjectRecord(dir string) (id, path string, err error) { return "p", dir, f.err }

func (f *records) ToolFiles() map[string]int { return map[string]int{"skills": 2} }

// newDCM returns a server of the earlier service, and its records.
func newDCM(t *testing.T) (*fixture, *records) {
	t.Helper()
	facts := &records{rows: map[string]app.Record{}}
	return newFixture(t, func(o *Options) { o.Compat, o.Archive.Records = CompatDCM, facts }), facts
}

// send sends a request without a token.
func send(w *fixture, method, path, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	all := []func(*http.Request){header("Authorization", "")}
	if body != "" {
		all = append(all, header("Content-Type", "application/json"))
	}
	return w.request(method, path, body, append(all, change...)...)
}

// Wrong requests are answered with a sentence, and read and store nothing.
func TestDCMRefusals(t *testing.T) {
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		says                     string
		change                   []func(*http.Request)
	}{
		{"own API", "GET", "/api/v1/sessions", "", 401, "token", nil},
		{"the page", "GET", "/", "", 404, "no such path", nil},
		{"another method", "DELETE", "/api/requests/1", "", 404, "no such path: DELETE", nil},
		{"empty body", "POST", "/api/requests", "", 400, "the content type is not JSON", nil},
		{"empty JSON body", "POST", "/api/requests", "", 400, "the body is empty", []func(*http.Request){header("Content-Type", "application/json")}},
		{"null", "POST", "/api/requests", "null", 400, "not an object", nil},
		{"a list", "POST", "/api/requests", "[]", 400, "wrong type: array", nil},
		{"no prompt", "POST", "/api/requests", `{"session_id": "s"}`, 400, "prompt is missing", nil},
		{"empty prompt", "POST", "/api/requests", `{"session_id": "s", "prompt": ""}`, 400, "not a valid prompt", nil},
		{"a number for a text", "POST", "/api/requests", `{"session_id": 7, "prompt": "x"}`, 400, "session_id is not a text", nil},
		{"wrong status", "POST", "/api/requests", `{"session_id": "s", "prompt": "x", "status": "king"}`, 400, "not a valid status", nil},
		{"unknown parent", "POST", "/api/subtasks", `{"task_id": "none", "description": "x"}`, 404, `no record "none" in tasks`, nil},
		{"change without a field", "PATCH", "/api/requests/r", `{"colour": 1}`, 400, "no field", nil},
		{"change of nothing", "PATCH", "/api/requests/none", `{"status": "failed"}`, 404, "no record", nil},
		{"wrong limit", "GET", "/api/actions?limit=many", "", 400, "not a valid limit", nil},
		{"wrong offset", "GET", "/api/actions?offset=-1", "", 400, "not a valid offset", nil},
		{"no path", "GET", "/api/projects/by-path", "", 400, "path is missing", nil},
		{"wrong trigger", "POST", "/api/compact/save", `{"session_id": "s", "trigger": "king"}`, 400, "not a valid trigger", nil},
		{"too many tokens", "POST", "/api/compact/restore", `{"session_id": "s", "max_tokens": 9000}`, 400, "max_tokens is 9000", nil},
		{"another site", "GET", "/health", "", 403, "other sites", []func(*http.Request){header("Origin", "https://evil.example")}},
		{"another host", "GET", "/health", "", 421, "host name", []func(*http.Request){host("evil.example:3847")}},
		{"a form of another site", "POST", "/api/requests", "a=b", 400, "not JSON", []func(*http.Request){header("Content-Type", "text/plain")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, facts := newDCM(t)
			out := send(w, c.method, c.path, c.body, c.change...)
			if out.Code != c.status || !strings.Contains(out.Body.String(), strings.ReplaceAll(c.says, `"`, `\"`)) {
				t.Errorf("%d %s, want %d %q", out.Code, out.Body, c.status, c.says)
			}
			if len(facts.rows) > 0 || w.archive.request != nil {
				t.Error("the archive was used")
			}
		})
	}
}

func TestDCMRecordKeepsKnownFields(t *testing.T) {
	w, facts := newDCM(t)
	out := send(w, "POST", "/api/actions", `{"tool_name": "SAFETY_GATE", "tool_type": "blocked", "session_id": "s", "metadata": {"reason": "secret"}, "colour": "red"}`)
	rec := facts.rows["actions s.p1"]
	if out.Code != http.StatusCreated || rec["tool_type"] != "blocked" || rec["metadata"] == nil || rec["colour"] != nil {
		t.Errorf("%d %s, stored %v", out.Code, out.Body, rec)
	}
}

func TestDCMErrorsHideDetails(t *testing.T) {
	w, facts := newDCM(t)
	facts.err = errors.New("disk of /home/ada is full")
	if out := send(w, "GET", "/api/actions", ""); out.Code != 500 || strings.Contains(out.Body.String(), "ada") {
		t.Errorf("%d %s", out.Code, out.Body)
	}
	facts.err = &archive.Error{Code: archive.CodeBusy, Msg: "the index is busy"}
	if out := send(w, "GET", "/api/actions", ""); out.Code != 503 || !strings.Contains(out.Body.String(), `"error":"the index is busy"`) {
		t.Errorf("%d %s", out.Code, out.Body)
	}
}
