package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"strandline/internal/text"
)

// Tests of the helpers of this package.

func TestRecords(t *testing.T) {
	block := func(body string) string {
		return text.FenceOpen + " 1234:\n" + body + "\n" + text.FenceClose + " 1234"
	}
	for name, c := range map[string]struct {
		text, blocks, rest string
	}{
		"nothing":     {"", "", ""},
		"none":        {"a", "", "a"},
		"one":         {"a" + block("x") + "b", "x", "a b"},
		"two":         {block("x") + "a" + block("y"), "x y", "a"},
		"without end": {"a" + text.FenceOpen + " 1234:\nx", "x", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			blocks, rest := records(c.text)
			for i := range blocks {
				blocks[i] = strings.TrimSpace(strings.TrimPrefix(blocks[i], " 1234:"))
			}
			rest = strings.Join(strings.Fields(strings.ReplaceAll(rest, "1234", " ")), " ")
			if got := strings.Join(blocks, " "); got != c.blocks || rest != c.rest {
				t.Errorf("blocks %q and rest %q, want %q and %q", got, rest, c.blocks, c.rest)
			}
		})
	}
}

func TestHookEndLine(t *testing.T) {
	for line, want := range map[string]string{
		"17:04:09 [DEBUG] Hooks: SessionStart:compact [/bin/strandline hook] finished with status 0 (10ms)": "SessionStart:compact|/bin/strandline hook|0|10",
		"17:04:09 [DEBUG] PreCompact:auto [/bin/strandline hook] completed with status 1":                   "PreCompact:auto|/bin/strandline hook|1|",
		"17:04:09 [DEBUG] Hooks: Stop ['/my bin/strandline' hook] finished with status -9 (3ms)":            "Stop|'/my bin/strandline' hook|-9|3",
		"17:04:09 [DEBUG] Hook output does not start with {, treating as plain text":                        "",
	} {
		got := ""
		if found := hookEndLine().FindStringSubmatch(line); found != nil {
			got = strings.Join(found[1:], "|")
		}
		if got != want {
			t.Errorf("%s:\n got %q\nwant %q", line, got, want)
		}
	}
}

func TestComplaints(t *testing.T) {
	for line, want := range map[string]int{
		`{"type":"attachment","attachment":{"type":"hook_success","command":"x"}}`:            0,
		`{"type":"attachment","attachment":{"type":"hook_non_blocking_error","command":"x"}}`: 1,
		`{"type":"attachment","attachment":{"type":"hook_cancelled","command":"x"}}`:          1,
		`{"type":"system","subtype":"stop_hook_summary","hookErrors":[]}`:                     0,
		`{"type":"system","subtype":"stop_hook_summary","hookErrors":["a","b"]}`:              2,
		`{"attachment":"text"}`: 0,
		`{"type":`:              0,
	} {
		if got := complaints([]byte(line)); len(got) != want {
			t.Errorf("%s: complaints %q, want %d", line, got, want)
		}
	}
}

func TestSessionOf(t *testing.T) {
	for path, want := range map[string]string{
		"projects/-p/aa.jsonl":                    "aa",
		"projects/-p/aa/subagents/agent-bb.jsonl": "aa~bb",
		"projects/-p/aa/subagents/agent-bb.meta":  "",
		"projects/-p/aa/tool-results/out.txt":     "",
	} {
		if got, ok := sessionOf(filepath.FromSlash(path)); got != want || ok != (want != "") {
			t.Errorf("%s is of session %q (%t), want %q", path, got, ok, want)
		}
	}
}

func TestFirstDifference(t *testing.T) {
	for _, c := range []struct{ got, want, says string }{
		{"abc", "axc", "they differ from abc / axc"},
		{"ab", "abcd", "the end is missing: abcd"},
		{"abcd", "ab", "there is more: abcd"},
	} {
		if says := firstDifference(c.got, c.want); says != c.says {
			t.Errorf("%q and %q: %s, want %s", c.got, c.want, says, c.says)
		}
	}
}
