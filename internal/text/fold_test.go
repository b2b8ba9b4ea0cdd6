package text_test

import (
	"testing"

	"strandline/internal/text"
)

func TestFoldTerminal(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "",
		"plain\nlines\n":             "plain\nlines\n",
		"\x1b[31m--- FAIL\x1b[0m: x": "--- FAIL: x",
		"10%\r55%\r100%\ndone":       "100%\ndone",
		"dos\r\nlines\r\n":           "dos\nlines\n",
		"a\x1b[2K\rb":                "b",
		"\x1b]0;title\x07text":       "text",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "link",
		"open \x1b]0;title":                        "open ]0;title",
		"\x1b":                                     "",
	} {
		if got := text.FoldTerminal(in); got != want {
			t.Errorf("FoldTerminal(%q) = %q, want %q", in, got, want)
		}
	}
}
