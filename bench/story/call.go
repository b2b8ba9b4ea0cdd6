package story

import (
	"fmt"
	"strconv"
	"strings"

	"strandline/bench/synth"
)

// persistAt is the size in bytes above which the client stores an output in a side
// file.
const persistAt = 30_000

// call adds a tool call to the response; finish writes its result.
func (t *writer) call(s section) {
	switch s.kind {
	case "bash":
		t.bash(s)
	case "read":
		t.read(s)
	case "write":
		path := t.path(s.arg)
		id := t.Use("Write", synth.Row{}.Str("file_path", path).Str("content", s.body+"\n"))
		t.answer(id, "Wrote "+path, false, synth.Row{}.Str("type", "create").Str("filePath", path).Str("content", s.body+"\n"))
	case "edit":
		t.edit(s)
	case "grep":
		id := t.Use("Grep", synth.Row{}.Str("pattern", s.arg).Str("path", t.cwd).Str("output_mode", "content").Bool("-n", true))
		t.answer(id, s.body, false, synth.Row{}.Str("mode", "content").Str("content", s.body).
			Int("numLines", int64(strings.Count(s.body, "\n")+1)))
	case "todo":
		t.todo(s)
	}
}

func (t *writer) bash(s section) {
	output, failed := s.body, false
	if first, rest, _ := strings.Cut(s.body, "\n"); strings.HasPrefix(first, "exit ") {
		if code, err := strconv.Atoi(first[5:]); err == nil && code != 0 {
			output, failed = rest, true
		}
	}
	id := t.Use("Bash", synth.Row{}.Str("command", s.arg))
	if failed {
		code := strings.Fields(s.body)[1]
		t.answer(id, "Exit code "+code+"\n"+output, true, nil)
		return
	}
	structured := synth.Row{}.Str("stdout", output).Str("stderr", "").Bool("interrupted", false).Bool("isImage", false)
	if len(output) > persistAt {
		name := t.ID() + "/tool-results/" + id + ".txt"
		t.files[name] = []byte(output)
		head := output[:2000]
		output = fmt.Sprintf("Output of %d bytes is in %s; it begins:\n%s", len(s.body), name, head)
		structured = synth.Row{}.Str("stdout", head).Str("stderr", "").Bool("interrupted", false).
			Bool("isImage", false).Str("persistedOutputPath", name)
	}
	t.answer(id, output, false, structured)
}

func (t *writer) read(s section) {
	path := t.path(s.arg)
	var numbered strings.Builder
	lines := strings.Split(s.body, "\n")
	for i, line := range lines {
		fmt.Fprintf(&numbered, "%d\t%s\n", i+1, line)
	}
	id := t.Use("Read", synth.Row{}.Str("file_path", path))
	file := synth.Row{}.Str("filePath", path).Str("content", s.body+"\n").Int("numLines", int64(len(lines))).
		Int("startLine", 1).Int("totalLines", int64(len(lines)))
	t.answer(id, strings.TrimSuffix(numbered.String(), "\n"), false, synth.Row{}.Str("type", "text").Obj("file", file))
}

func (t *writer) edit(s section) {
	path := t.path(s.arg)
	before, after, _ := strings.Cut(s.body, "\n=====\n")
	id := t.Use("Edit", synth.Row{}.Str("file_path", path).Str("old_string", before).Str("new_string", after).Bool("replace_all", false))
	t.answer(id, "Changed "+path, false, synth.Row{}.Str("filePath", path).Str("oldString", before).
		Str("newString", after).Bool("userModified", false).Bool("replaceAll", false))
}

func (t *writer) todo(s section) {
	status := map[string]string{"[ ]": "pending", "[>]": "in_progress", "[x]": "completed"}
	var todos []synth.Row
	for line := range strings.Lines(s.body) {
		mark, subject, ok := strings.Cut(strings.TrimSpace(line), "] ")
		if ok {
			todos = append(todos, synth.Row{}.Str("content", subject).Str("status", status[mark+"]"]).Str("activeForm", subject))
		}
	}
	id := t.Use("TodoWrite", synth.Row{}.List("todos", todos...))
	t.answer(id, "The list is changed.", false, synth.Row{}.List("newTodos", todos...))
}

func (t *writer) answer(id, text string, failed bool, structured synth.Row) {
	t.pending = append(t.pending, func() { t.Answer(id, text, failed, structured) })
}

func (t *writer) path(arg string) string {
	if strings.HasPrefix(arg, "/") {
		return arg
	}
	return t.cwd + "/" + arg
}
