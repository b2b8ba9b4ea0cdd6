package claude

import (
	"bytes"
	"strings"
	"testing"

	"strandline/internal/archive"
)

func reader(t *testing.T) *Reader {
	t.Helper()
	r, err := NewReader(base, archive.Cursor{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDescribe(t *testing.T) {
	r := reader(t)
	for _, c := range []struct {
		name string
		kind archive.CallKind
		in   string
		want string
	}{
		{"read", archive.CallRead, `{"file_path":"/a","limit":3}`, "/a"},
		{"read from a line", archive.CallRead, `{"file_path":"/a","offset":7}`, "/a · from line 7"},
		{"search", archive.CallSearch, `{"pattern":"x\\(","path":"src","glob":"*.go","-i":true}`, `x\( · src · *.go`},
		{"page", archive.CallWeb, `{"url":"https://a.b","prompt":"why?"}`, "https://a.b · why?"},
		{"query", archive.CallWeb, `{"query":"go"}`, "go"},
		{"agent", archive.CallAgent, `{"prompt":"do\nmore","description":"d","subagent_type":"Explore"}`, "Explore · d · do"},
		{"any other", archive.CallOther, `{"id":42,"on":true,"none":null,"labels":["a","b"],"deep":{"k":{"x":"v"}}}`, "id 42 · labels a b · deep v"},
		{"text", archive.CallOther, `"just text"`, "just text"},
		{"nothing", archive.CallOther, `{}`, ""},
		{"null", archive.CallOther, `null`, ""},
		{"long", archive.CallOther, `{"q":"` + strings.Repeat("x", 500) + `"}`, "q " + strings.Repeat("x", 237) + "…"},
	} {
		expect(t, c.name, r.describe(c.kind, r.scan.readInput([]byte(c.in))), c.want)
	}
}

func TestOutputText(t *testing.T) {
	s := newScanner()
	for in, want := range map[string]string{
		`"plain"`: "plain",
		`[{"type":"text","text":"a"},"b",{"text":"c"}]`: "a\nb\nc",
		`[{"type":"image","source":{"data":"AAAA"}}]`:   "[image]",
		`[{"type":"tool_reference","tool_name":"X"}]`:   "[tool_reference X]",
		`[{"type":"text","text":""},null,7,[1]]`:        "7",
		`{"type":"text","text":"object"}`:               "object",
		`null`:                                          "", `true`: "", `12`: "12", ``: "",
	} {
		expect(t, in, s.outputText([]byte(in)), want)
	}
}

func TestReadInput(t *testing.T) {
	s := newScanner()
	in := s.readInput([]byte(`{"command":"a\"b","n":5,"file_path":"","path":"/p","l":[1,2]}`))
	expect(t, "text", in.text("nothing", "command"), `a"b`)
	expect(t, "number", in.text("n"), "5")
	expect(t, "files", in.text("file_path", "notebook_path", "path"), "/p")
	expect(t, "raw", string(in.value("l")), "[1,2]")
	if n := len(s.readInput([]byte(`[1]`)).members); n != 0 {
		t.Errorf("an array has %d members", n)
	}
	elements := bytes.Join(s.elements([]byte(`[{"a":1}, "x" ,null]`)), []byte(";"))
	expect(t, "elements", string(elements), `{"a":1};"x";null`)
	if all := s.elements([]byte(`{"a":1}`)); all != nil {
		t.Errorf("an object has elements %q", all)
	}
}

func TestTasks(t *testing.T) {
	todo := func(content, status string) any { return fields("content", content, "status", status) }
	for _, c := range []struct {
		name  string
		write func(s *script)
		want  string // id status subject of each event
	}{
		{"created, confirmed by facts", func(s *script) {
			s.use("m", "t", "TaskCreate", fields("subject", "a")).result("t", "ok", "toolUseResult", fields("task", fields("id", "7")))
		}, "7 pending a"},
		{"created, confirmed by text", func(s *script) {
			s.use("m", "t", "TaskCreate", fields("subject", "a")).result("t", "Task #12 created successfully: a")
		}, "12 pending a"},
		{"created, confirmed by a bare id", func(s *script) {
			s.use("m", "t", "TaskCreate", fields("subject", "a")).result("t", "ok", "toolUseResult", fields("taskId", "8"))
		}, "8 pending a"},
		{"updated without success", func(s *script) {
			s.use("m", "t", "TaskUpdate", fields("taskId", "3", "status", "completed")).result("t", "Task not found", "toolUseResult", fields("success", false, "taskId", "3"))
		}, ""},
		{"created, never confirmed", func(s *script) { s.use("m", "t", "TaskCreate", fields("subject", "a")) }, ""},
		{"created, refused", func(s *script) {
			s.use("m", "t", "TaskCreate", fields("subject", "a")).result("t", "Task #1 is disabled", "is_error", true)
		}, ""},
		{"updated", func(s *script) {
			s.use("m", "t", "TaskUpdate", fields("taskId", 3, "status", "completed")).result("t", "ok")
		}, "3 completed "},
		{"updated to an unknown status", func(s *script) {
			s.use("m", "t", "TaskUpdate", fields("taskId", "3", "status", "paused")).result("t", "ok")
		}, ""},
		{"cancelled", func(s *script) {
			s.use("m", "t", "TaskUpdate", fields("taskId", "3", "status", "cancelled")).result("t", "ok")
		}, "3 deleted "},
		{"a list gives changes only", func(s *script) {
			s.use("m1", "t1", "TodoWrite", fields("todos", []any{todo("a", "pending"), todo("b", "pending")})).
				use("m2", "t2", "TodoWrite", fields("todos", []any{todo("b", "in_progress"), todo("a", "pending")})).
				use("m3", "t3", "TodoWrite", fields("todos", []any{}))
		}, "todo:d24ec4f1a98c6e5b pending a, todo:78452aa11af39f9b pending b, todo:78452aa11af39f9b in_progress b, " +
			"todo:d24ec4f1a98c6e5b deleted , todo:78452aa11af39f9b deleted "},
		{"a list deletes omitted items that are not done", func(s *script) {
			s.use("m1", "t1", "TodoWrite", fields("todos", []any{todo("a", "completed"), todo("b", "in_progress")})).
				use("m2", "t2", "TodoWrite", fields("todos", []any{todo("a and b", "completed")}))
		}, "todo:d24ec4f1a98c6e5b completed a, todo:78452aa11af39f9b in_progress b, todo:9b5365e0f57fd66a completed a and b, todo:78452aa11af39f9b deleted "},
		{"a list that is none drops nothing", func(s *script) {
			s.use("m1", "t1", "TodoWrite", fields("todos", []any{todo("a", "pending")})).use("m2", "t2", "TodoWrite", fields("todos", "x"))
		}, "todo:d24ec4f1a98c6e5b pending a"},
		{"two items of one name", func(s *script) {
			s.use("m1", "t1", "TodoWrite", fields("todos", []any{todo("a", "completed"), todo("a", "pending")}))
		}, "todo:d24ec4f1a98c6e5b completed a, todo:d24ec4f1a98c6e5b#2 pending a"},
		{"items with ids of their own", func(s *script) {
			item := func(status string) any { return fields("id", "9", "content", "a", "status", status) }
			s.use("m1", "t1", "TodoWrite", fields("todos", []any{item("pending")})).use("m2", "t2", "TodoWrite", fields("todos", []any{item("completed")}))
		}, "9 pending a, 9 completed a"},
		{"an agent's list is not the session's", func(s *script) {
			s.use("m", "t", "TodoWrite", fields("todos", []any{todo("a", "pending")}), "isSidechain", true)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t).user("one")
			c.write(s)
			var got []string
			for _, e := range sorted(s.read().tasks) {
				got = append(got, e.TaskID+" "+e.Status+" "+e.Subject)
			}
			expect(t, "events", strings.Join(got, ", "), c.want)
		})
	}
}
