package claude

import (
	"strings"
	"testing"
	"unicode/utf8"

	"strandline/internal/archive"
	"strandline/internal/text"
)

func TestClassifyUser(t *testing.T) {
	for _, c := range []struct {
		name, row string
		class     userClass
		text      string
	}{
		{"prompt", `"message":{"content":"hello"}`, classPrompt, "hello"},
		{"prompt in blocks", `"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, classPrompt, "a\n\nb"},
		{"picture alone", `"message":{"content":[{"type":"image"}]}`, classPrompt, "[image]"},
		{"nothing", `"message":{"content":"  \n"}`, classNone, ""},
		{"client's words", `"isMeta":true,"message":{"content":"x"}`, classNone, "x"},
		{"repeated summary", `"repeatsCompactSummary":true,"message":{"content":"x"}`, classNone, "x"},
		{"summary", `"isCompactSummary":true,"message":{"content":"x"}`, classSummary, "x"},
		{"tool result", `"message":{"content":[{"type":"tool_result","content":"x"}]}`, classNone, ""},
		{"words beside a tool result", `"message":{"content":[{"type":"tool_result","content":"x"},{"type":"text","text":"stop"}]}`, classComment, "stop"},
		{"interruption", `"message":{"content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}`, classNone, ""},
		{"command echo", `"message":{"content":"<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>x</command-args>"}`, classEcho, "/model x"},
		{"command with a prompt", `"message":{"content":"<command-message>a:b</command-message>\n<command-name>/a:b</command-name>"}`, classPrompt, "/a:b"},
		{"command without a name", `"message":{"content":"<command-message>a</command-message>"}`, classPrompt, "/a"},
		{"command output", `"message":{"content":"<local-command-stdout>x</local-command-stdout>"}`, classNone, ""},
		{"shell input", `"message":{"content":"<bash-input>ls</bash-input>"}`, classNone, ""},
		{"background task", `"message":{"content":"<task-notification>x</task-notification>"}`, classNotice, "<task-notification>x</task-notification>"},
		{"reminder beside words", `"message":{"content":[{"type":"text","text":"<system-reminder>r</system-reminder>"},{"type":"text","text":"go"}]}`, classPrompt, "go"},
		{"editor context", `"message":{"content":[{"type":"text","text":"<ide_selection>s</ide_selection>"},{"type":"text","text":"go"}]}`, classPrompt, "go"},
		{"words about tags", `"message":{"content":"what is <command-name> for?"}`, classPrompt, "what is <command-name> for?"},
	} {
		s, r := scanOne(t, `{"type":"user",`+c.row+`}`)
		if class, text := s.classifyUser(r); class != c.class || text != c.text {
			t.Errorf("%s: class %d %q, want %d %q", c.name, class, text, c.class, c.text)
		}
	}
}

func TestClean(t *testing.T) {
	fence := text.Fence("session x", "old words")
	for _, c := range []struct{ name, text, want string }{
		{"plain", " a b \n", "a b"},
		{"reminders", "a<system-reminder>x</system-reminder>b<system-reminder>y</system-reminder>", "ab"},
		{"a reminder that does not end", "a <system-reminder> b", "a <system-reminder> b"},
		{"colours", "\x1b[1;31mred\x1b[0m and \x1b]0;t\x07", "red and ]0;t\x07"},
		{"an escape at the end", "x\x1b[", "x["},
		{"NULs", "a\x00b", "ab"},
		{"a quoted record", "before\n" + fence + "\nafter", "before\n" + fence + "\nafter"},
	} {
		if got := clean(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTitles(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"one\ntwo", 20, "one"},
		{"\n \n  spaced   out \n", 20, "spaced out"},
		{"Implement the following plan:\n\n# Add a cache", 60, "Implement the following plan: # Add a cache"},
		{"only an announcement:", 60, "only an announcement:"},
		{"äöüäöü", 4, "äöü…"},
		{"abcd", 4, "abcd"},
		{"", 4, ""},
	} {
		if got := title(c.text, c.n); got != c.want {
			t.Errorf("title(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestSplit(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	for _, c := range []struct {
		name, text string
		pieces     int
	}{
		{"empty", "", 0}, {"blank", " \n", 0}, {"short", "hello", 1},
		{"lines", strings.Repeat(line, 100), 3},
		{"one long line", strings.Repeat("x", archive.MaxPassage*2+1), 3},
		{"runes without a break", strings.Repeat("語", archive.MaxPassage), 4},
	} {
		got := split(c.text)
		if len(got) != c.pieces {
			t.Errorf("%s: %d pieces, want %d", c.name, len(got), c.pieces)
		}
		for _, p := range got {
			if len(p) > archive.MaxPassage || !utf8.ValidString(p) {
				t.Errorf("%s: a piece of %d bytes, valid %v", c.name, len(p), utf8.ValidString(p))
			}
		}
		if squeeze(strings.Join(got, "")) != squeeze(c.text) {
			t.Errorf("%s: text is lost", c.name)
		}
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

func TestExcerpt(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		if i == 200 {
			b.WriteString("main.go:9: undefined: total\n")
		}
		b.WriteString("a line of no interest\n")
	}
	text := "HEAD\n" + b.String() + "TAIL"
	got, cut := excerpt(text, excerptWhole, true)
	if !cut || len(got) > excerptWhole+64 {
		t.Errorf("cut %v, %d bytes", cut, len(got))
	}
	for _, want := range []string{"HEAD\n", "undefined: total", "TAIL"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if got, _ := excerpt(text, excerptWhole, false); strings.Contains(got, "undefined") {
		t.Error("error lines were not asked for")
	}
	if got, cut := excerpt("short", excerptWhole, true); cut || got != "short" {
		t.Errorf("a short text is cut: %q", got)
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add("héllo\nerror: x\n", 10)
	f.Add(strings.Repeat("語", 3000), 1400)
	f.Add(strings.Repeat("fatal error\n", 300), 900)
	f.Fuzz(func(t *testing.T, text string, whole int) {
		if whole < 0 || whole > 1<<16 {
			return
		}
		text = strings.ToValidUTF8(text, "?")
		got, cut := excerpt(text, whole, true)
		if !utf8.ValidString(got) {
			t.Errorf("invalid UTF-8 from %q", text)
		}
		if !cut && got != text || len(got) > max(whole, excerptWhole)+excerptErrors+64 {
			t.Errorf("%d bytes of %d, whole %d, cut %v", len(got), len(text), whole, cut)
		}
		for _, p := range split(text) {
			if len(p) > archive.MaxPassage || !utf8.ValidString(p) {
				t.Errorf("bad piece %q", p)
			}
		}
	})
}

func TestErrorLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"Exit code 1", "Exit code 1"},
		{"Exit code 1\nok\nmain.go:3: undefined: x\nFAIL", "main.go:3: undefined: x"},
		{"Exit code 2\nnothing to see\nthe end\n", "the end"},
		{"Exit code 129\nusage: git diff [<options>]\n\n  -a, --text   treat all files as text", "usage: git diff [<options>]"},
		{trimErrorTags("<tool_use_error>File does not exist.</tool_use_error>"), "File does not exist."},
		{"Traceback\nValueError: bad", "ValueError: bad"},
		{"panic: boom\ngoroutine 1", "panic: boom"},
		{strings.Repeat("ä", 600), strings.Repeat("ä", 499) + "…"},
	} {
		if got := errorLine(c.text); got != c.want {
			t.Errorf("errorLine(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestExitCode(t *testing.T) {
	for text, want := range map[string]int{
		"Exit code 0": 0, "Exit code 127\nx": 127, "Error: Exit code 2\r\nx": 2,
		"exit code 1": -1, "Exit code": -1, "Exit code x": -1, "Exit code 1x": -1, "All: Exit code 1": -1,
	} {
		code, ok := exitCode(text)
		if !ok {
			code = -1
		}
		if code != want {
			t.Errorf("exitCode(%q) = %d, want %d", text, code, want)
		}
	}
}

func TestRejection(t *testing.T) {
	for _, c := range []struct {
		text, said string
		refused    bool
	}{
		{"The user doesn't want to proceed. To tell you how to proceed, the user said:\nno\nreally", "no\nreally", true},
		{"The user doesn't want to proceed with this tool use.", "", true},
		{"log: the user said:\nhello", "", false},
		{"The user has no such file", "", false},
	} {
		if said, refused := rejection(c.text); said != c.said || refused != c.refused {
			t.Errorf("rejection(%q) = %q, %v, want %q, %v", c.text, said, refused, c.said, c.refused)
		}
	}
}

func TestStripNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"     1→a\n    10→\tb\n": "a\n\tb\n",
		"1\ta\n2\t\n":            "a\n\n",
		"no numbers\n1→x":        "no numbers\n1→x",
		"1→a\nnot numbered\n3→c": "a\nnot numbered\nc",
		"":                       "",
	} {
		if got := stripLineNumbers(text); got != want {
			t.Errorf("stripLineNumbers(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestKinds(t *testing.T) {
	for tool, want := range map[string]archive.CallKind{
		"Bash": archive.CallCommand, "MultiEdit": archive.CallEdit, "NotebookRead": archive.CallRead, "LS": archive.CallSearch,
		"Task": archive.CallAgent, "Agent": archive.CallAgent, "TodoWrite": archive.CallTask, "TaskGet": archive.CallTask,
		"WebSearch": archive.CallWeb, "mcp__a__Bash": archive.CallOther, "": archive.CallOther, "Skill": archive.CallOther,
	} {
		if got := kindOf(tool); got != want {
			t.Errorf("kindOf(%q) = %q, want %q", tool, got, want)
		}
	}
}

func TestSlug(t *testing.T) {
	for cwd, want := range map[string]string{
		"/home/ann/shop": "-home-ann-shop", "/a/.b_c": "-a--b-c", `C:\x y`: "C--x-y", "/süd": "-s-d", "/🌊x": "---x", "": "",
	} {
		if got := Slug(cwd); got != want {
			t.Errorf("Slug(%q) = %q, want %q", cwd, got, want)
		}
	}
}
