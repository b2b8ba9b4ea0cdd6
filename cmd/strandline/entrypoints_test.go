package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"strandline/bench/synth"
	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/browse"
	"strandline/internal/cli"
	"strandline/internal/httpapi"
	"strandline/internal/mcpserver"
	"strandline/internal/recall"
)

const (
	shopSession  = "7f3a12cd-0000-4000-8000-000000000001"
	tidesSession = "9b1c44ee-0000-4000-8000-000000000002"
)

// fixedNow makes scores, which depend on a passage's age, equal in all calls.
func fixedNow() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// question is one question, in the terms of each entry point that offers it. The
// answer of the command line is the reference.
type question struct {
	cli  []string
	http string // path below /api/v1
	// from names the part of the HTTP response that holds the rows, "items" if empty
	// and the response has it.
	from string
	mcp  string // tool
	args map[string]any
	// browse is a query in the browser, which searches all projects.
	browse string
}

// The same question gives the same rows and the same JSON at every entry point.
func TestEntryPointsAgree(t *testing.T) {
	e := newEntryPoints(t)
	for name, q := range map[string]question{
		"search": {
			cli: []string{"search", "--all", "-n", "50", "maxBackoff1"}, http: "/search?limit=50&q=maxBackoff1",
			mcp: "search", args: map[string]any{"query": "maxBackoff1", "project": "all", "limit": 25}, browse: "maxBackoff1",
		},
		"search, two projects": {
			cli: []string{"search", "--all", "-n", "50", "gateway"}, http: "/search?limit=50&q=gateway",
			mcp: "search", args: map[string]any{"query": "gateway", "project": "all", "limit": 25}, browse: "gateway",
		},
		"search, a kind": {
			cli: []string{"search", "--all", "-n", "50", "--kind", "command", "TestRetry"}, http: "/search?limit=50&q=TestRetry&kind=command",
			mcp: "search", args: map[string]any{"query": "TestRetry", "kinds": []string{"command"}, "project": "all", "limit": 25}, browse: "kind:command TestRetry",
		},
		"search, filters in the query": {
			cli: []string{"search", "-n", "50", "project:tides kind:prompt gauge"}, http: "/search?limit=50&q=project:tides+kind:prompt+gauge",
			mcp: "search", args: map[string]any{"query": "project:tides kind:prompt gauge", "limit": 25}, browse: "project:tides kind:prompt gauge",
		},
		"search, a session": {
			cli: []string{"search", "--session", "9b1c44ee", "-n", "50", "gateway"}, http: "/search?limit=50&q=gateway&session=9b1c44ee",
			mcp: "search", args: map[string]any{"query": "gateway", "session": "9b1c44ee", "limit": 25}, browse: "session:9b1c44ee gateway",
		},
		"search, no hits": {
			cli: []string{"search", "--all", "-n", "50", "zzzqqq"}, http: "/search?limit=50&q=zzzqqq",
			mcp: "search", args: map[string]any{"query": "zzzqqq", "project": "all", "limit": 25}, browse: "zzzqqq",
		},
		"sessions": {
			cli: []string{"sessions", "--all"}, http: "/sessions", mcp: "sessions", args: map[string]any{"project": "all"},
		},
		"sessions of a project": {
			cli: []string{"sessions", "--project", "/home/dev/tides"}, http: "/sessions?project=tides", mcp: "sessions", args: map[string]any{"project": "tides"},
		},
		"projects":       {cli: []string{"projects"}, http: "/projects"},
		"outline":        {cli: []string{"show", "7f3a12cd"}, http: "/sessions/7f3a12cd", mcp: "recall", args: map[string]any{"handle": "7f3a12cd", "max_chars": 20_000}},
		"turn":           {cli: []string{"show", "7f3a12cd/1"}, http: "/sessions/7f3a12cd/turns/1", from: "blocks", mcp: "recall", args: map[string]any{"handle": "7f3a12cd/1", "max_chars": 20_000}},
		"step":           {cli: []string{"show", "7f3a12cd/1.0"}, http: "/sessions/7f3a12cd/turns/1.0", from: "blocks", mcp: "recall", args: map[string]any{"handle": "7f3a12cd/1.0"}},
		"timeline":       {cli: []string{"timeline", "7f3a12cd"}, http: "/sessions/7f3a12cd/timeline", mcp: "timeline", args: map[string]any{"session": "7f3a12cd", "max_chars": 20_000}},
		"tasks":          {cli: []string{"tasks", "--session", "7f3a12cd"}, http: "/sessions/7f3a12cd/tasks"},
		"open tasks":     {cli: []string{"tasks", "--open", "--session", "7f3a12cd"}, http: "/sessions/7f3a12cd/tasks?open"},
		"segments":       {cli: []string{"segments", "--session", "7f3a12cd"}, http: "/sessions/7f3a12cd/segments"},
		"history":        {cli: []string{"files", "--all", "pay/retry.go"}, http: "/files?path=pay/retry.go", mcp: "files", args: map[string]any{"path": "pay/retry.go", "project": "all"}},
		"newest touches": {cli: []string{"files", "--all", "-n", "2", "pay/retry.go"}, http: "/files?path=pay/retry.go&limit=2", mcp: "files", args: map[string]any{"path": "pay/retry.go", "project": "all", "limit": 2}},
		"files":          {cli: []string{"files", "--session", "7f3a12cd"}, http: "/sessions/7f3a12cd/files"},
		"compactions":    {cli: []string{"compactions", "--all"}, http: "/compactions"},
		"restore":        {cli: []string{"restore", "--session", "7f3a12cd", "--budget", "4000"}, http: "/sessions/7f3a12cd/restore?budget=4000"},
		"preserve":       {cli: []string{"preserve", "--session", "7f3a12cd"}, http: "/sessions/7f3a12cd/preserve"},
		"stats":          {cli: []string{"stats"}, http: "/stats"},
		"session stats":  {cli: []string{"stats", "7f3a12cd"}, http: "/sessions/7f3a12cd/stats"},
		"status":         {cli: []string{"status"}, http: "/status", mcp: "status"},
	} {
		t.Run(name, func(t *testing.T) {
			want := e.cli(t, q.cli)
			if got := e.http(t, q); !reflect.DeepEqual(got, want) {
				t.Errorf("HTTP:\n%s\nwant\n%s", indent(got), indent(want))
			}
			if q.mcp != "" {
				e.checkMCP(t, q, want)
			}
			if q.browse != "" {
				e.checkBrowse(t, q, want)
			}
		})
	}
}

// entryPoints is one archive for all entry points.
type entryPoints struct{ app *app.App }

func newEntryPoints(t *testing.T) entryPoints {
	t.Helper()
	dir := t.TempDir()
	for name, value := range map[string]string{
		"HOME": dir, "STRANDLINE_HOME": filepath.Join(dir, "archive"), "CLAUDE_CONFIG_DIR": filepath.Join(dir, ".claude"),
		"CLAUDE_PROJECT_DIR": "/home/dev/shop", "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "STRANDLINE_LIFECYCLE_AUTO": "false", "TZ": "UTC",
	} {
		t.Setenv(name, value)
	}
	writeSession(t, dir, shopSession, "/home/dev/shop", func(s *synth.Session) {
		for i := range 3 {
			s.Prompt(fmt.Sprintf("Make payment retry %d wait longer", i))
			s.Say(fmt.Sprintf("I set maxBackoff%d to 4500 ms because the gateway bans clients.", i))
			test := s.Use("Bash", synth.Row{}.Str("command", fmt.Sprintf("go test ./pay -run TestRetry%d", i)))
			edit := s.Use("Edit", synth.Row{}.Str("file_path", "/home/dev/shop/pay/retry.go").Str("old_string", "wait(i)").Str("new_string", "wait(1 << i)"))
			todo := s.Use("TaskCreate", synth.Row{}.Str("subject", fmt.Sprintf("Test retry %d", i)))
			s.Respond()
			s.Answer(test, "Exit code 1\n--- FAIL: TestRetry", true, nil)
			s.Answer(edit, "The file was updated.", false, synth.Row{}.Str("filePath", "/home/dev/shop/pay/retry.go"))
			s.Answer(todo, "Created", false, synth.Row{}.Obj("task", synth.Row{}.Str("id", fmt.Sprint(i+1))))
			s.Say("The retry doubles now.")
			s.Respond()
			s.EndTurn()
			s.Wait(time.Minute)
			if i == 1 {
				s.Compact("auto", 167_000, 9_000, "Payments: maxBackoff1 is 4500 ms.")
			}
		}
	})
	writeSession(t, dir, tidesSession, "/home/dev/tides", func(s *synth.Session) {
		s.Prompt("Where does the gauge's gateway stand?")
		s.Say("In tide.go, beside the gateway.")
		s.Respond()
		s.EndTurn()
	})
	e := entryPoints{newApp()}
	e.app.Now = fixedNow
	if code, out := e.run(t, "import"); code != 0 {
		t.Fatalf("import: %d %s", code, out)
	}
	return e
}

func writeSession(t *testing.T, dir, id, cwd string, write func(*synth.Session)) {
	t.Helper()
	path := filepath.Join(dir, ".claude", "projects", strings.ReplaceAll(cwd, "/", "-"), id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	s := synth.New(f, synth.Options{
		Session: id, Cwd: cwd, Branch: "main", Version: "2.1.0", Model: "claude-opus-5-5", Start: fixedNow().Add(-3 * time.Hour), Seed: uint64(id[0]), Context: 12000,
	})
	s.Begin()
	write(s)
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// run runs a command with its own App, as a process does.
func (entryPoints) run(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out, errOut bytes.Buffer
	o := cliOptions()
	o.App.Now = fixedNow
	o.Stdin, o.Stdout, o.Stderr = strings.NewReader(""), &out, &errOut
	code := cli.Main(t.Context(), o, args)
	return code, out.String() + errOut.String()
}

// cli returns a command's JSON.
func (e entryPoints) cli(t *testing.T, args []string) any {
	t.Helper()
	code, out := e.run(t, append(slices.Clone(args), "--json")...)
	if code != 0 {
		t.Fatalf("%v: %d %s", args, code, out)
	}
	return normalized(t, out)
}

// http returns the rows of a response.
func (e entryPoints) http(t *testing.T, q question) any {
	t.Helper()
	s := httpapi.New(httpapi.Options{
		Version: version, Now: fixedNow, Log: slog.New(slog.DiscardHandler), Token: "token", Redact: e.app.Redact,
		Archive: httpapi.Archive{Catalog: e.app, Content: e.app, Contexts: e.app},
	})
	r := httptest.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1/api/v1"+q.http, nil)
	r.Header.Set("Authorization", "Bearer token")
	out := httptest.NewRecorder()
	s.ServeHTTP(out, r)
	if out.Code != 200 {
		t.Fatalf("%s: %d %s", q.http, out.Code, out.Body)
	}
	got := normalized(t, out.Body.String())
	if object, ok := got.(map[string]any); ok {
		for _, name := range []string{"items", q.from} {
			if rows, ok := object[name]; ok {
				return rows
			}
		}
	}
	return got
}

// comparable decodes JSON without what differs between two runs, or is HTTP's own:
// snippets and pages.
func normalized(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return without(v, "took_ms", "snippet", "marks", "next")
}

func without(v any, names ...string) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range names {
			delete(v, name)
		}
		for _, x := range v {
			without(x, names...)
		}
	case []any:
		for _, x := range v {
			without(x, names...)
		}
	}
	return v
}

func indent(v any) string {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// handles returns the handles of rows, in order.
func handles(v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		if rows, ok := v["hits"]; ok {
			return handles(rows)
		}
	case []any:
		for _, x := range v {
			if row, ok := x.(map[string]any); ok {
				if h, ok := row["handle"].(string); ok {
					out = append(out, h)
				}
			}
		}
	}
	return out
}

// closer is a pipe's end.
type closer struct {
	io.Reader
	io.Writer
}

func (closer) Close() error { return nil }

// checkMCP compares a tool's structured content with the reference.
func (e entryPoints) checkMCP(t *testing.T, q question, want any) {
	t.Helper()
	server := mcpserver.New(mcpserver.Options{Version: version, Now: fixedNow, Log: slog.New(slog.DiscardHandler), Archive: e.app, Redact: e.app.Redact, Project: "shop"})
	args, err := json.Marshal(q.args)
	if err != nil {
		t.Fatal(err)
	}
	if q.args == nil {
		args = []byte("{}")
	}
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, q.mcp, args) + "\n"
	var out bytes.Buffer
	if err := server.Run(t.Context(), closer{Reader: strings.NewReader(in)}, closer{Writer: &out}); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	for line := range strings.Lines(out.String()) {
		var m struct {
			ID     int
			Result struct {
				IsError           bool
				StructuredContent map[string]any
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m.ID == 2 && !m.Result.IsError {
			got = m.Result.StructuredContent
		}
	}
	if got == nil {
		t.Fatalf("MCP: %s", out.String())
	}
	record, _ := got["record"].(string)
	switch q.mcp {
	case "status":
		wants, _ := want.(map[string]any)
		for name, value := range got {
			if ref, ok := wants[name]; ok && name != "first" && name != "last" && !reflect.DeepEqual(value, ref) {
				t.Errorf("MCP: %s is %v, want %v", name, value, ref)
			}
		}
	case "recall", "timeline":
		rows := want
		if object, ok := want.(map[string]any); ok { // an outline or a timeline
			rows = object["turn_list"]
			if rows == nil {
				rows = object["turns"]
			}
		}
		for _, h := range handles(rows) {
			if !strings.Contains(record, "\n"+h+"  ") {
				t.Errorf("MCP: no turn %s in\n%s", h, record)
			}
		}
		list, _ := rows.([]any)
		for _, x := range list {
			block, _ := x.(map[string]any)
			if text, ok := block["text"].(string); ok {
				if _, edit, isEdit := strings.Cut(text, "old_string: "); isEdit { // printed as a diff
					before, after, _ := strings.Cut(edit, "\nnew_string: ")
					block["text"] = "-" + before + "\n+" + after
				}
			}
			if text, ok := block["text"].(string); ok && block["kind"] != "attachment" && block["kind"] != "other" && !strings.Contains(record, strings.TrimSpace(text)) {
				t.Errorf("MCP: no %q in\n%s", text, record)
			}
		}
	default:
		wanted := handles(want)
		if q.mcp == "files" { // newest first
			slices.Reverse(wanted)
		}
		var listed []string
		list, _ := got["handles"].([]any)
		for _, h := range list {
			listed = append(listed, fmt.Sprint(h))
		}
		if !slices.Equal(listed, wanted) {
			t.Errorf("MCP: handles %q, want %q", listed, wanted)
		}
	}
}

// watched is an archive that keeps the last result of a search.
type watched struct {
	browse.Archive
	found *recall.Result
}

func (w watched) Search(ctx context.Context, q app.SearchQuery) (recall.Result, error) {
	result, err := w.Archive.Search(ctx, q)
	*w.found = result
	return result, err
}

// checkBrowse compares the browser's search result with the reference, and its
// screen with the hits.
func (e entryPoints) checkBrowse(t *testing.T, q question, want any) {
	t.Helper()
	var found recall.Result
	m := browse.New(t.Context(), browse.Options{Archive: watched{e.app, &found}, Project: "shop", All: true, Query: q.browse, Sessions: 2, Now: now})
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 60})
	for cmd := m.Init(); cmd != nil; {
		_, cmd = m.Update(cmd())
	}
	data, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	got := normalized(t, string(data))
	// The query's text is the one difference: filters are typed into it.
	for _, v := range []any{got, want} {
		if object, ok := v.(map[string]any); ok {
			delete(object, "query")
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("browse:\n%s\nwant\n%s", indent(got), indent(want))
	}
	screen := ansi.Strip(m.View().Content)
	for _, h := range handles(want) {
		if !strings.Contains(screen, h) {
			t.Errorf("browse does not show %s:\n%s", h, screen)
		}
	}
	if hits := found.Hits; len(hits) > 0 && hits[0].LineFrom >= 0 {
		p, err := e.app.Place(t.Context(), archive.Handle(hits[0].Ref))
		if err != nil {
			t.Fatal(err)
		}
		block := p.Blocks[slices.IndexFunc(p.Blocks, app.Block.Conversation)]
		if first, _, _ := strings.Cut(strings.TrimSpace(block.Text), "\n"); !strings.Contains(screen, first[:min(20, len(first))]) {
			t.Errorf("browse does not show %q:\n%s", first, screen)
		}
	}
}
