package cli

import (
	"strings"
	"testing"
	"time"

	"strandline/internal/app"
	"strandline/internal/text"
	"strandline/internal/transcript/claude"
)

func TestHang(t *testing.T) {
	path := "/home/dev/" + strings.Repeat("long/", 8) + "end"
	for name, c := range map[string]struct {
		columns    int
		text, want string
	}{
		"no terminal":                 {0, "one two three four five six seven", "head: one two three four five six seven\n"},
		"below itself":                {20, "one two three four five", "head: one two three\n      four five\n"},
		"a path stays whole":          {20, "see " + path + " for it", "head: see\n      " + path + "\n      for it\n"},
		"a command stays whole":       {24, "try `strandline maintain` now", "head: try\n      `strandline maintain`\n      now\n"},
		"a backquote without another": {20, "it`s one two three", "head: it`s one two\n      three\n"},
		"two commands":                {40, "`a b` or `c d`, whichever you like more", "head: `a b` or `c d`, whichever you like\n      more\n"},
		"too narrow to be broken":     {10, "one two three", "head: one two three\n"},
		"nothing to say":              {20, "", "head: \n"},
		"wide characters":             {14, "支払い 再試行 終", "head: 支払い\n      再試行\n      終\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			hang(&b, c.columns, "head: ", 6, c.text, plain)
			if b.String() != c.want {
				t.Errorf("got\n%q\nwant\n%q", b.String(), c.want)
			}
		})
	}
}

// What was written is broken between words on a terminal; code, tables and what
// programs printed keep their lines, and elsewhere everything does.
func TestOnlyProseIsWrapped(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", 30))
	code := "```go\n" + long + "\n```\n"
	a := newCommands(newWorld(t).options(new(strings.Builder), new(strings.Builder)))
	for name, c := range map[string]struct {
		kind, text string
		broken     bool
	}{
		"a prompt":             {claude.BlockPrompt, long, true},
		"a reply":              {claude.BlockReply, "short\n" + long, true},
		"thinking":             {claude.BlockThinking, long, true},
		"an indented list":     {claude.BlockReply, "  - " + long, true},
		"code between fences":  {claude.BlockReply, code, false},
		"indented code":        {claude.BlockReply, "    " + long, false},
		"code after a tab":     {claude.BlockReply, "\t" + long, false},
		"a table":              {claude.BlockReply, "| " + long + " |", false},
		"what a program wrote": {claude.BlockToolResult, long, false},
		"short lines":          {claude.BlockReply, "one\n\ntwo", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := a.blockText(app.Block{Kind: c.kind, Text: c.text, Time: time.Now()})
			if (got != c.text) != c.broken {
				t.Errorf("got\n%s", got)
			}
			if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(c.text), " ") {
				t.Errorf("words were lost:\n%s", got)
			}
			for line := range strings.Lines(got) {
				if c.broken && text.Cells(line) > 80 {
					t.Errorf("a line of %d cells: %s", text.Cells(line), line)
				}
			}
		})
	}
	if got := a.blockText(app.Block{Kind: claude.BlockReply, Text: code + long}); !strings.HasPrefix(got, code) || !strings.Contains(got[len(code):], "\n") {
		t.Errorf("after a fence:\n%s", got)
	}
}

func TestCountPlural(t *testing.T) {
	for want, c := range map[string]struct {
		n    int
		noun string
	}{"0 summaries": {0, "summary"}, "1 summary": {1, "summary"}, "2 turns": {2, "turn"}, "1 turn": {1, "turn"}, "3 days": {3, "day"}} {
		if got := count(c.n, c.noun); got != want {
			t.Errorf("count(%d, %q) = %q, want %q", c.n, c.noun, got, want)
		}
	}
}
