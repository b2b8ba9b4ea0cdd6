package claude

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
)

func TestCommandOutcomes(t *testing.T) {
	for _, c := range []struct {
		name   string
		text   string
		pairs  []any
		exit   string
		failed bool
		errors string
		want   string // passage
	}{
		{"success", "fine", nil, "0", false, "", "$ make\n[exit 0]\nfine"},
		{"no output", "", nil, "0", false, "", "$ make\n[exit 0]"},
		{"exit code", "Exit code 2\nmain.go:1: undefined: x", []any{"is_error", true}, "2", true, "main.go:1: undefined: x", "$ make\n[exit 2]\nmain.go:1: undefined: x"},
		{"exit code alone", "Exit code 137", []any{"is_error", true}, "137", true, "Exit code 137", "$ make\n[exit 137]"},
		{"failed without a code", "no such tool", []any{"is_error", true}, "-", true, "no such tool", "$ make\n[failed]\nno such tool"},
		{"structured code", "x", []any{"toolUseResult", fields("exitCode", 3)}, "3", false, "", "$ make\n[exit 3]\nx"},
		{"interrupted", "x", []any{"toolUseResult", fields("interrupted", true)}, "-", false, "", "$ make\n[interrupted]\nx"},
		{"in the background", "", []any{"toolUseResult", fields("backgroundTaskId", "b")}, "-", false, "", "$ make\n[in background]"},
		{"a non-zero code without failure", "", []any{"toolUseResult", fields("returnCodeInterpretation", "No matches found")}, "-", false, "", "$ make"},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := newScript(t).user("one").use("m", "t", "Bash", fields("command", "make")).result("t", c.text, c.pairs...).read()
			call := st.calls[[3]int{0, 0, 0}]
			exit := "-"
			if call.Exit != nil {
				exit = fmt.Sprint(*call.Exit)
			}
			if exit != c.exit || call.Failed != c.failed || call.Error != c.errors || call.LineResult != 2 {
				t.Errorf("call %+v, exit %s", call, exit)
			}
			expect(t, "passage", st.texts(archive.KindCommand), c.want)
		})
	}
}

func TestCallWithoutResult(t *testing.T) {
	st := newScript(t).user("one").use("m", "t", "Bash", fields("command", "make")).read()
	call := st.calls[[3]int{0, 0, 0}]
	if call.LineResult != -1 || call.Exit != nil || call.Failed {
		t.Errorf("call %+v", call)
	}
	expect(t, "passage", st.texts(archive.KindCommand), "$ make")
}

// TestResultInLaterRead reads the request and the result in different batches: the
// second batch replaces the rows of the first with complete ones.
func TestResultInLaterRead(t *testing.T) {
	s := newScript(t).user("one").
		use("m", "t1", "Bash", fields("command", "make", "description", "Build")).
		use("m", "t2", "Read", fields("file_path", "/a.go")).
		result("t2", "     1→package a").result("t1", "built", "toolUseResult", fields("durationMs", 1500))
	st := newStore()
	st.read(t, base, nil, cutAt([]byte(s.out.String()), 2, 3, 4)...)
	expect(t, "command", st.texts(archive.KindCommand), "$ make\n# Build\n[exit 0]\nbuilt")
	expect(t, "output", st.texts(archive.KindOutput), "Read /a.go\npackage a")
	call := st.calls[[3]int{0, 0, 0}]
	if call.Command != "make" || call.Duration != 1500*time.Millisecond || call.LineUse != 1 || call.LineResult != 4 || call.Name != "Bash" {
		t.Errorf("call %+v", call)
	}
	if step := st.steps[[2]int{0, 0}]; step.LineFrom != 1 || step.LineTo != 5 {
		t.Errorf("step %+v", step)
	}
	if n := len(st.passages); n != 3 {
		t.Errorf("%d passages, want the prompt and two", n)
	}
}

// TestLateResult has a result in the next turn: the call is complete, and the ranges of
// turns and steps do not overlap.
func TestLateResult(t *testing.T) {
	st := newScript(t).user("one").use("m", "t", "Bash", fields("command", "make")).user("two").result("t", "built").read()
	if call := st.calls[[3]int{0, 0, 0}]; call.LineResult != 3 || call.Exit == nil {
		t.Errorf("call %+v", call)
	}
	if step := st.steps[[2]int{0, 0}]; step.LineTo != 2 {
		t.Errorf("step reaches to %d", step.LineTo)
	}
	if p := st.passages[[3]int{0, 0, 0}]; p.LineTo != 2 || !strings.Contains(p.Text, "built") {
		t.Errorf("passage %+v", p)
	}
}

// TestPassageSizes checks passages of every tool with texts of many sizes.
func TestPassageSizes(t *testing.T) {
	for _, n := range []int{0, 1, 500, 1390, 1400, 2700, 2740, 3200, 3990, 4096, 5000, 60000} {
		for _, unit := range []string{"x", "語", "line of text\n", "error: no\n"} {
			text := strings.Repeat(unit, n/len(unit)+1)
			s := newScript(t).user(text)
			for i, tool := range []string{"Bash", "Read", "Grep", "Edit", "Write", "MultiEdit", "Agent", "WebFetch", "TaskCreate", "TodoWrite", "mcp__x__y"} {
				id := fmt.Sprint("t", i)
				s.use("m", id, tool, fields("command", text, "description", text, "file_path", "/"+text, "pattern", text, "content", text,
					"old_string", text, "new_string", text, "prompt", text, "url", text, "subject", text, "x", []string{text},
					"edits", []any{fields("old_string", text, "new_string", text), fields("new_string", text), fields("new_string", text)},
					"todos", []any{fields("content", text)}))
				s.result(id, text, "is_error", n%2 == 0)
			}
			st := s.read()
			invariants(t, st)
			for _, c := range st.calls {
				if len([]rune(c.Command)) > 4000 || len([]rune(c.Error)) > 500 {
					t.Errorf("%s: a command of %d and an error of %d bytes", c.Name, len(c.Command), len(c.Error))
				}
			}
		}
	}
}

func TestPartial(t *testing.T) {
	short, long := "a few words", strings.Repeat("many words\n", 1000)
	for _, c := range []struct {
		tool string
		in   map[string]any
		out  string
		want bool
	}{
		{"Bash", fields("command", short), short, false},
		{"Bash", fields("command", short), long, true},
		{"Bash", fields("command", long), short, true},
		{"Edit", fields("file_path", "/a", "old_string", short, "new_string", short), short, false},
		{"Edit", fields("file_path", "/a", "old_string", short, "new_string", long), short, true},
		{"Write", fields("file_path", "/a", "content", long), short, true},
		{"Read", fields("file_path", "/a"), long, true},
		{"Agent", fields("prompt", short), strings.Repeat("x", 3000), false},
		{"Agent", fields("prompt", short), long, true},
	} {
		st := newScript(t).user("one").use("m", "t", c.tool, c.in).result("t", c.out).read()
		if p := st.passages[[3]int{0, 0, 0}]; p.Partial != c.want {
			t.Errorf("%s with %d and %d bytes: partial %v, want %v", c.tool, len(fmt.Sprint(c.in)), len(c.out), p.Partial, c.want)
		}
	}
}

func TestFilesTouched(t *testing.T) {
	st := newScript(t).user("one").
		use("m", "t1", "Read", fields("file_path", "/r")).use("m", "t2", "Edit", fields("file_path", "/e")).
		use("m", "t3", "Grep", fields("pattern", "x", "path", "/g")).use("m", "t4", "NotebookEdit", fields("notebook_path", "/n")).
		use("m", "t5", "Bash", fields("command", "cat /b")).use("m", "t6", "mcp__a__b", fields("path", "/m")).read()
	var got []string
	for _, f := range sorted(st.files) {
		got = append(got, fmt.Sprintf("%s %s line %d", f.Kind, f.Path, f.Line))
	}
	expect(t, "files", strings.Join(got, ", "), "read /r line 1, edit /e line 2, search /g line 3, edit /n line 4")
}

func TestOrphanResult(t *testing.T) {
	st := newScript(t).result("unknown", "too early").user("one").result("unknown", "no step yet").reply("m", "a").result("unknown", "an answer").read()
	expect(t, "output", st.texts(archive.KindOutput), "an answer")
}

func TestOldRequestsAreDropped(t *testing.T) {
	s := newScript(t).user("one").use("m1", "t1", "Bash", fields("command", "a")).
		user("two").use("m2", "t2", "Bash", fields("command", "b")).user("three").reply("m3", "c").result("t1", "late")
	st := s.read()
	if c := st.calls[[3]int{0, 0, 0}]; c.LineResult != -1 {
		t.Errorf("a request of two turns ago was answered: %+v", c)
	}
}
