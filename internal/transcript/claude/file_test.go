package claude

import (
	"fmt"
	"strings"
	"testing"
)

// track follows /w/a.go through calls. Each has a tool, its input, its result's text and its
// structured result, "" for none.
func track(calls ...[4]string) *FileTracker {
	t := &FileTracker{Path: "/w/a.go"}
	for i, c := range calls {
		t.Add(2*i, fmt.Appendf(nil, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t%d","name":%q,"input":%s}]}}`, i, c[0], c[1]))
		failed := strings.HasPrefix(c[2], "ERROR")
		result := ""
		if c[3] != "" {
			result = `,"toolUseResult":` + c[3]
		}
		t.Add(2*i+1, fmt.Appendf(nil, `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%d","content":%q,"is_error":%v}]}%s}`, i, c[2], failed, result))
	}
	return t
}

func TestFileTracker(t *testing.T) {
	const at = `"file_path":"/w/a.go"`
	read := func(content string, from, count, total int) [4]string {
		return [4]string{"Read", "{" + at + "}", "shown", fmt.Sprintf(`{"type":"text","file":{"filePath":"/w/a.go","content":%q,"startLine":%d,"numLines":%d,"totalLines":%d}}`, content, from, count, total)}
	}
	shown := func(text string) [4]string { return [4]string{"Read", "{" + at + "}", text, ""} }
	write := func(content string) [4]string {
		return [4]string{"Write", fmt.Sprintf(`{%s,"content":%q}`, at, content), "ok", ""}
	}
	edit := func(before, after string) [4]string {
		return [4]string{"Edit", fmt.Sprintf(`{%s,"old_string":%q,"new_string":%q}`, at, before, after), "ok", ""}
	}
	failed := edit("a", "z")
	failed[2] = "ERROR"
	all := edit("a", "z")
	all[1] = strings.TrimSuffix(all[1], "}") + `,"replace_all":true}`
	original := edit("b", "B")
	original[3] = `{"originalFile":"a\nb","oldString":"b","newString":"B"}`
	other := write("other")
	other[1] = `{"file_path":"/w/x/a.go","content":"other"}`
	for name, c := range map[string]struct {
		calls []([4]string)
		want  string // "? why" if it is not known
	}{
		"nothing":                                 {nil, "? "},
		"a read":                                  {[][4]string{read("a\nb\n", 1, 3, 3)}, "a\nb\n"},
		"a read without a final newline":          {[][4]string{read("a\nb", 1, 2, 2)}, "a\nb"},
		"a write with CRLF":                       {[][4]string{write("a\r\nb\r\n")}, "a\r\nb\r\n"},
		"edits in order":                          {[][4]string{write("a\nb\n"), edit("a", "c"), edit("c\n", "")}, "b\n"},
		"an edit that takes the end of its line":  {[][4]string{write("a\nb\n"), edit("a", "")}, "b\n"},
		"an edit of the first place":              {[][4]string{write("a a"), edit("a", "z")}, "z a"},
		"an edit of all places":                   {[][4]string{write("a a"), all}, "z z"},
		"a failed edit":                           {[][4]string{write("a"), failed}, "a"},
		"an edit with the content before":         {[][4]string{original}, "a\nB"},
		"another file of the same name":           {[][4]string{write("mine"), other}, "mine"},
		"a part":                                  {[][4]string{read("b", 2, 1, 3)}, "? only 1 of its 3 lines were read"},
		"all parts":                               {[][4]string{read("a\nb", 1, 2, 4), read("c\n", 3, 2, 4)}, "a\nb\nc\n"},
		"parts of a changed file":                 {[][4]string{read("a\nb", 1, 2, 4), read("c\n", 3, 2, 5)}, "? only 2 of its 5 lines were read"},
		"a part of a known file":                  {[][4]string{write("a\nb\nc\n"), read("b", 2, 1, 4)}, "a\nb\nc\n"},
		"a part that differs from the known file": {[][4]string{write("a\nb\nc\n"), read("X", 2, 1, 4)}, "? only 1 of its 4 lines were read"},
		"an edit after a part":                    {[][4]string{read("b", 2, 1, 3), edit("b", "c")}, "? it was edited before the whole file was read"},
		"an edit that does not fit":               {[][4]string{write("a"), edit("q", "c")}, "? an edit does not fit what was read; something else changed the file"},
		"numbered lines":                          {[][4]string{shown("     1→a\n     2→\tb\n     3→")}, "a\n\tb\n"},
		"numbered lines without a final newline":  {[][4]string{shown("1\ta\n2\tb")}, "a\nb"},
		"numbered lines and a reminder":           {[][4]string{shown("1\ta\n2\t\n\n<system-reminder>\nx\n</system-reminder>\n")}, "a\n"},
		"numbered lines from the middle":          {[][4]string{shown("7\ta\n8\tb")}, "? only 2 of its 2009 lines were read"},
		"a text that is not the file's":           {[][4]string{shown("The file is empty.")}, "? the result of a read is not the file's text"},
		"a notebook":                              {[][4]string{write("a"), {"NotebookEdit", `{"notebook_path":"/w/a.go"}`, "ok", ""}}, "? it was changed by NotebookEdit"},
		"an empty file":                           {[][4]string{write("")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := track(c.calls...)
			got := f.Content
			if !f.Known {
				got = "? " + f.Lost
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
