package mcpserver

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// call calls a tool with the SDK's client, which checks the result against the
// tool's schema.
func call(t *testing.T, c *mcp.ClientSession, tool string, args map[string]any) (answer, *mcp.CallToolResult) {
	t.Helper()
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, args, err)
	}
	var out answer
	if res.StructuredContent != nil {
		raw, err := json.Marshal(res.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatal(err)
		}
	}
	return out, res
}

func textOf(res *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if x, ok := c.(*mcp.TextContent); ok {
			b.WriteString(x.Text)
		}
	}
	return b.String()
}

func TestToolList(t *testing.T) {
	c := newFixture(t).client()
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var eager, deferred []string
	for _, tool := range list.Tools {
		if a := tool.Annotations; a == nil || a.ReadOnlyHint == (tool.Name == "segment_save") || !a.ReadOnlyHint && *a.DestructiveHint || a.OpenWorldHint == nil || *a.OpenWorldHint {
			t.Errorf("%s is not announced as read-only and closed-world: %+v", tool.Name, a)
		}
		if tool.Meta["anthropic/alwaysLoad"] == true {
			eager = append(eager, tool.Name)
		} else {
			deferred = append(deferred, tool.Name)
		}
	}
	slices.Sort(eager)
	slices.Sort(deferred)
	if got, want := strings.Join(eager, " "), "recall search"; got != want {
		t.Errorf("loaded at once: %s, want %s", got, want)
	}
	if got, want := strings.Join(deferred, " "), "files segment_save sessions status timeline"; got != want {
		t.Errorf("deferred: %s, want %s", got, want)
	}
	if n := utf8.RuneCountInString(c.InitializeResult().Instructions); n == 0 || n > 600 {
		t.Errorf("instructions of %d characters, want 1 to 600", n)
	}
	if got := c.InitializeResult().ServerInfo.Version; got != "1.2.3" {
		t.Errorf("version %s", got)
	}
}

func TestSearch(t *testing.T) {
	tests := map[string]struct {
		args    map[string]any
		handles string // of the hits, in any order
		note    string
	}{
		"this project":           {map[string]any{"query": "gateway bans"}, "7f3a12cd/0.0", ""},
		"not another project":    {map[string]any{"query": "gauge"}, "", "No hits. Other projects have hits (1 in tides): set project to all."},
		"all projects":           {map[string]any{"query": "gauge", "project": "all"}, "9b1c44ee/0", ""},
		"all, in the query":      {map[string]any{"query": "gauge project:all"}, "9b1c44ee/0", ""},
		"another by name":        {map[string]any{"query": "gauge", "project": "tides"}, "9b1c44ee/0", ""},
		"a session":              {map[string]any{"query": "gauge", "session": "9b1c44ee"}, "9b1c44ee/0", ""},
		"a kind":                 {map[string]any{"query": "retry", "kinds": []string{"prompt"}}, "7f3a12cd/0", ""},
		"a time":                 {map[string]any{"query": "retry", "since": "1h"}, "", "No hits."},
		"one hit":                {map[string]any{"query": "retry", "limit": 1, "kinds": []string{"prompt"}}, "7f3a12cd/0", ""},
		"no hits":                {map[string]any{"query": "zzzqqq"}, "", "No hits."},
		"a phrase":               {map[string]any{"query": `"longer retry"`, "kinds": []string{"prompt"}}, "7f3a12cd/0", "No passage contains the phrase; these contain its words."},
		"SQL":                    {map[string]any{"query": `'; DROP TABLE passages; -- gateway`}, "7f3a12cd/0.0", ""},
		"operators of the index": {map[string]any{"query": `gateway AND NOT "`}, "7f3a12cd/0.0", ""},
	}
	c := newFixture(t).client()
	for name, x := range tests {
		t.Run(name, func(t *testing.T) {
			out, res := call(t, c, "search", x.args)
			if res.IsError {
				t.Fatalf("error: %s", textOf(res))
			}
			if got := strings.Join(out.Handles, " "); got != x.handles {
				t.Errorf("handles %q, want %q", got, x.handles)
			}
			if out.Note != x.note {
				t.Errorf("note %q, want %q", out.Note, x.note)
			}
			if x.handles == "" != (out.Record == "") {
				t.Errorf("record %q", out.Record)
			}
			if got := textOf(res); !strings.Contains(got, out.Record) || !strings.Contains(got, out.Note) {
				t.Errorf("the text differs from the structured content: %q", got)
			}
		})
	}
}

// With vectors, a query finds a passage by meaning without a common word. The
// result marks it as related.
func TestSearchByMeaning(t *testing.T) {
	w := newFixture(t)
	args := map[string]any{"query": "throttling prohibits customers hammering", "limit": 5}
	if out, _ := call(t, w.client(), "search", args); len(out.Handles) != 0 {
		t.Fatalf("without vectors: %q", out.Handles)
	}
	w.embed()
	out, _ := call(t, w.client(), "search", args)
	if !slices.Contains(out.Handles, "7f3a12cd/0.0") || !strings.Contains(out.Record, "related in meaning") {
		t.Errorf("handles %q, record %q", out.Handles, out.Record)
	}
}

func TestResultsAreFencedAndRedacted(t *testing.T) {
	w := newFixture(t)
	c := w.client()
	out, res := call(t, c, "search", map[string]any{"query": "payment key ignore rules", "limit": 25})
	for form, body := range map[string]string{"text": textOf(res), "structure": out.Record} {
		if !strings.HasPrefix(body, text.FenceOpen) || strings.Count(body, text.FenceClose) != 1 {
			t.Errorf("the %s is not fenced once: %s", form, body)
		}
		if strings.Contains(body, "sk-hidden") || !strings.Contains(body, "[secret]") {
			t.Errorf("the %s holds a secret: %s", form, body)
		}
	}
	out, _ = call(t, c, "recall", map[string]any{"handle": "7f3a12cd/0"})
	if strings.Contains(out.Record, "sk-hidden") || !strings.Contains(out.Record, "[secret]") {
		t.Errorf("recall holds a secret: %s", out.Record)
	}
	out, _ = call(t, c, "recall", map[string]any{"handle": "7f3a12cd/1"})
	if strings.Count(out.Record, text.FenceClose) != 1 {
		t.Errorf("archived text closes the fence: %s", out.Record)
	}
	if got := text.Records(out.Record); len(got) != 1 || got[0].Text != out.Record {
		t.Errorf("text outside the fence: %q", out.Record)
	}
}

func TestRecall(t *testing.T) {
	w := newFixture(t)
	c := w.client()
	step, _ := call(t, c, "recall", map[string]any{"handle": "7f3a12cd/0.1"})
	if !strings.Contains(step.Record, "The retry doubles now.") || strings.Contains(step.Record, "maxBackoff") {
		t.Errorf("a step: %s", step.Record)
	}
	var whole strings.Builder
	for page := 1; ; page++ {
		got, res := call(t, c, "recall", map[string]any{"handle": "7f3a12cd/0", "page": page})
		if n := text.Units(got.Record); n > pageDefault+300 {
			t.Errorf("page %d has %d characters", page, n)
		}
		if got.Page != page || !strings.Contains(got.Record, "project shop, 2026-11-20 09:00") {
			t.Errorf("page %d starts with %s", page, archive.Clip(got.Record, 200))
		}
		body := strings.Split(got.Record, "\n")
		whole.WriteString(strings.Join(body[1:len(body)-1], "\n") + "\n")
		if more := strings.Contains(textOf(res), "Continue with page"); more != (page < got.Pages) {
			t.Errorf("page %d of %d has the note %q", page, got.Pages, got.Note)
		}
		if !strings.Contains(got.Note, "The turn has 2 steps, 7f3a12cd/0.0 to 7f3a12cd/0.1.") {
			t.Errorf("page %d lists no steps: %q", page, got.Note)
		}
		if page == got.Pages {
			break
		}
	}
	if n := strings.Count(whole.String(), "--- FAIL: TestRetry waited 0s 😀\n"); n != 600 {
		t.Errorf("the pages hold %d of 600 lines", n)
	}
	want := []archive.Ref{{Session: shop, Turn: 0, Step: 1}, {Session: shop, Turn: 0, Step: -1}}
	if got := slices.Compact(w.recalled); !slices.Equal(got, want) {
		t.Errorf("recorded as recalled: %v, want %v", got, want)
	}
	outline, _ := call(t, c, "recall", map[string]any{"handle": "7f3a12cd/0"})
	for _, part := range []string{"Make the payment retry wait longer", "7f3a12cd/0.0  09:00 Bash · exit 1 · go test ./pay -run TestRetry", "The retry doubles now."} {
		if !strings.Contains(outline.Record, part) || outline.Page != 0 || !strings.Contains(outline.Note, "page 1 to ") {
			t.Errorf("the outline of a long turn lacks %q: %s\n%s", part, outline.Record, outline.Note)
		}
	}
	large, _ := call(t, c, "recall", map[string]any{"handle": "7f3a12cd/0", "max_chars": 1_000_000})
	if large.Pages != 2 {
		t.Errorf("%d pages of the largest size, want 2", large.Pages)
	}
}

func TestOutlines(t *testing.T) {
	w := newFixture(t)
	c := w.client()
	for _, tool := range []string{"recall", "timeline"} {
		args := map[string]any{"handle": "7f3a12cd"}
		if tool == "timeline" {
			args = map[string]any{}
		}
		got, _ := call(t, c, tool, args)
		for _, part := range []string{"7f3a12cd/0", "Make the payment retry wait longer, the key is [secret]", "── compacted (auto): 167000 tokens -> 9000 tokens ──", "7f3a12cd/2"} {
			if !strings.Contains(got.Record, part) {
				t.Errorf("%s does not contain %q:\n%s", tool, part, got.Record)
			}
		}
	}
	if len(w.recalled) > 0 {
		t.Errorf("an outline counts as recalled: %v", w.recalled)
	}
	got, _ := call(t, c, "sessions", map[string]any{})
	if s := strings.Join(got.Handles, " "); s != "7f3a12cd" {
		t.Errorf("sessions %s, want this project's", s)
	}
	got, _ = call(t, c, "sessions", map[string]any{"project": "all", "limit": 1})
	if len(got.Handles) != 1 {
		t.Errorf("sessions %v, want one", got.Handles)
	}
	got, _ = call(t, c, "sessions", map[string]any{"since": "1m"})
	if got.Note != "No matching sessions." {
		t.Errorf("sessions since a minute ago: %+v", got)
	}
	_, res := call(t, c, "status", map[string]any{})
	if text := textOf(res); !strings.HasPrefix(text, "2 sessions and 0 sub-agent runs in 2 projects, 5 turns, ") {
		t.Errorf("status: %s", text)
	}
}

func TestFiles(t *testing.T) {
	c := newFixture(t).client()
	for name, x := range map[string]struct {
		args    map[string]any
		handles string
	}{
		"a file":          {map[string]any{"path": "pay/retry.go"}, "7f3a12cd/3.0 7f3a12cd/2.0"},
		"its end":         {map[string]any{"path": "retry.go", "limit": 1}, "7f3a12cd/3.0"},
		"part of a name":  {map[string]any{"path": "try.go"}, ""},
		"with reads":      {map[string]any{"path": "retry.go", "reads": true}, "7f3a12cd/3.0 7f3a12cd/2.0"},
		"nothing since":   {map[string]any{"path": "retry.go", "since": "1m"}, ""},
		"another project": {map[string]any{"path": "retry.go", "project": "tides"}, ""},
		"no such file":    {map[string]any{"path": "nowhere.go"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, res := call(t, c, "files", x.args)
			if h := strings.Join(got.Handles, " "); res.IsError || h != x.handles {
				t.Errorf("%q, want %q: %s", h, x.handles, textOf(res))
			}
		})
	}
}

// The history shows the change of each edit.
func TestFilesShowTheChange(t *testing.T) {
	got, _ := call(t, newFixture(t).client(), "files", map[string]any{"path": "/home/dev/shop/pay/retry.go"})
	for _, part := range []string{"Edit  --- old wait +++ new treble", "Edit  --- old wait +++ new double", "\n  +1 -1"} {
		if !strings.Contains(got.Record, part) {
			t.Errorf("no %q in\n%s", part, got.Record)
		}
	}
}

func TestSegmentSave(t *testing.T) {
	w := newFixture(t)
	c := w.client()
	got, res := call(t, c, "segment_save", map[string]any{"segment": "seg-1", "summary": "The retry doubles.", "no_files": "none matter"})
	if res.IsError || got.Note != "Compressed 1 segment" || len(w.saved) != 1 || w.saved[0].Text != "The retry doubles." || w.saved[0].NoFiles != "none matter" {
		t.Errorf("saved %+v, result %s", w.saved, textOf(res))
	}
	for name, args := range map[string]map[string]any{
		"an unknown segment": {"segment": "seg-2", "summary": "x"},
		"no segment":         {"segment": "", "summary": "x"},
		"far too long":       {"segment": "seg-1", "summary": strings.Repeat("x", maxSummary+1)},
	} {
		if _, res := call(t, c, "segment_save", args); !res.IsError || !strings.Contains(textOf(res), "is rejected") || len(w.saved) != 1 {
			t.Errorf("%s: %s", name, textOf(res))
		}
	}
}

func TestToolErrors(t *testing.T) {
	tests := map[string]struct {
		tool string
		args map[string]any
		want string
	}{
		"no such session":     {"recall", map[string]any{"handle": "ffffffff/1"}, "no session"},
		"no such turn":        {"recall", map[string]any{"handle": "7f3a12cd/99"}, "session 7f3a12cd has no turn 99; recall with handle 7f3a12cd lists its turns"},
		"no such step":        {"recall", map[string]any{"handle": "7f3a12cd/0.99"}, "turn 0 has no step 99; recall with handle 7f3a12cd/0 prints the turn"},
		"no such page":        {"recall", map[string]any{"handle": "7f3a12cd/0.1", "page": 7}, "page 7 does not exist; the last page is 1"},
		"no handle":           {"recall", map[string]any{"handle": "../../etc/passwd"}, "is not a handle"},
		"an empty handle":     {"recall", map[string]any{"handle": ""}, "is not a handle"},
		"a missing argument":  {"recall", map[string]any{}, "missing properties"},
		"an unknown argument": {"recall", map[string]any{"handle": "7f3a12cd", "depth": 3}, "unexpected additional properties"},
		"a wrong type":        {"search", map[string]any{"query": 7}, "want \"string\""},
		"an empty query":      {"search", map[string]any{"query": ""}, "the query has no words"},
		"no such kind":        {"search", map[string]any{"query": "x", "kinds": []string{"novel"}}, "novel"},
		"no such time":        {"search", map[string]any{"query": "x", "since": "soon"}, "soon"},
		"no such project":     {"search", map[string]any{"query": "x", "project": "nowhere"}, "no project is called \"nowhere\"; there are shop, tides; sessions with project all lists them"},
		"no time":             {"files", map[string]any{"path": "x", "since": "soon"}, "not a time"},
		"no path":             {"files", map[string]any{"path": " "}, "path is empty"},
		"no session there":    {"timeline", map[string]any{"session": "ffffffff"}, "list them with: sessions with project all"},
		"no such branch":      {"search", map[string]any{"query": "x", "branch": "nowhere"}, "no branch is called \"nowhere\""},
	}
	w := newFixture(t)
	c := w.client()
	for name, x := range tests {
		t.Run(name, func(t *testing.T) {
			_, res := call(t, c, x.tool, x.args)
			if text := textOf(res); !res.IsError || !strings.Contains(text, x.want) {
				t.Errorf("error %t: %s, want one with %q", res.IsError, text, x.want)
			}
		})
	}
	if w.log.Len() > 0 {
		t.Errorf("a usage error is logged: %s", w.log.String())
	}
}

func TestInternalErrorsAreReturnedAndLogged(t *testing.T) {
	w := newFixture(t)
	c := w.client()
	w.broken = &archive.Error{Code: archive.CodeBusy, Msg: "the index is being replaced", Hint: "try again in a moment"}
	if _, res := call(t, c, "status", map[string]any{}); !res.IsError || textOf(res) != "the index is being replaced; try again in a moment" {
		t.Errorf("a busy index: %s", textOf(res))
	}
	w.broken = errors.New("disk failure")
	if _, res := call(t, c, "status", map[string]any{}); !res.IsError || !strings.Contains(w.log.String(), "disk failure") {
		t.Errorf("internal error: %s, log %s", textOf(res), w.log.String())
	}
	w.broken = nil
	if _, res := call(t, c, "status", map[string]any{}); res.IsError {
		t.Errorf("the server does not recover: %s", textOf(res))
	}
	if w.opens != 3 {
		t.Errorf("the index was opened %d times for 3 calls", w.opens)
	}
}
