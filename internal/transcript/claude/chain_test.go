package claude_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"strandline/internal/transcript/claude"
)

// chainOf returns rows "kind uuid parent minute", "-" for no parent. The kinds are p, a prompt; a, an
// answer; s, a system row; x, a row of a sub-agent; b, a compaction that keeps the row with the
// uuid after "+".
func chainOf(rows string) *claude.Chain {
	var b strings.Builder
	for line := range strings.Lines(rows) {
		f := strings.Fields(line)
		kind, kept, _ := strings.Cut(f[0], "+")
		parent := fmt.Sprintf("%q", f[2])
		if f[2] == "-" {
			parent = "null"
		}
		head := fmt.Sprintf(`{"parentUuid":%s,"uuid":%q,"timestamp":"2026-11-01T10:%s:00.000Z",`, parent, f[1], f[3])
		b.WriteString(head + map[string]string{
			"p": `"type":"user","message":{"role":"user","content":"Go on"}}`,
			"a": `"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Done"}]}}`,
			"s": `"type":"system","subtype":"turn_duration"}`,
			"x": `"type":"assistant","isSidechain":true,"message":{"role":"assistant","content":[{"type":"text","text":"Done"}]}}`,
			"b": `"type":"system","subtype":"compact_boundary","compactMetadata":{"preservedMessages":{"uuids":["` + kept + `"]}}}`,
		}[kind] + "\n")
	}
	c := claude.NewChain()
	all := b.String()
	cut := strings.IndexByte(all, '\n') + 1 // two chunks
	c.Read([]byte(all[:cut]), 0)
	c.Read([]byte(all[cut:]), 1)
	return c
}

func TestReach(t *testing.T) {
	for _, tc := range []struct {
		name, rows     string
		reached, turns int
		parents        string // "line:uuid", also of prompts without parent
	}{
		{"whole", "p 1 - 00\na 2 1 00\np 3 2 10\na 4 3 10", 2, 2, ""},
		{"a parent was never written", "p 1 - 00\na 2 1 00\np 3 ? 10\na 4 3 10", 1, 2, "2:2"},
		{"twice", "p 1 - 00\na 2 ? 10\np 3 ? 20\na 4 3 20\np 5 4 30", 2, 3, "1:1 2:2"},
		{"the client bridges seconds", "p 1 - 00\na 2 1 10\np 3 ? 10\na 4 3 10", 2, 2, "2:2"},
		{"a cycle", "p 1 - 00\na 2 1 00\np 3 4 10\na 4 3 10", 1, 2, "2:2"},
		{"an answer without a parent", "p 1 - 00\na 2 1 00\na 3 - 10\np 4 3 11", 1, 2, "2:2"},
		{"a rewound turn", "p 1 - 00\na 2 1 00\np 3 2 10\na 4 3 10\np 5 2 20", 2, 2, ""},
		{"a sub-agent's rows", "p 1 - 00\na 2 1 00\nx 9 ? 05\np 3 ? 10", 1, 2, "3:2"},
		{"after a compaction", "p 1 - 00\na 2 ? 05\nb+2 3 - 10\np 4 3 11\na 5 4 11\np 6 ? 20", 1, 2, "5:5"},
		{"at a message that the compaction keeps", "p 1 - 00\na 2 1 05\nb+2 3 - 10\np 4 2 11", 1, 1, ""},
		{"the first row is a continuation", "p 1 ? 00\na 2 1 05", 1, 1, ""},
		{"empty", "s 1 - 00", 0, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := chainOf(tc.rows).Reach(false)
			want := map[int]string{}
			for pair := range strings.FieldsSeq(tc.parents) {
				line, uuid, _ := strings.Cut(pair, ":")
				want[int(line[0]-'0')] = uuid
			}
			if got.Reached != tc.reached || got.Turns != tc.turns || !maps.Equal(got.Parents, want) {
				t.Errorf("got %+v, want %d of %d turns and parents %v", got, tc.reached, tc.turns, want)
			}
		})
	}
}

func TestReachBeginsAtAPromptWithoutParent(t *testing.T) {
	c := chainOf("p 1 - 00\na 2 1 00\np 3 - 10")
	if got := c.Reach(false); got.Turns != 1 || len(got.Parents) != 0 {
		t.Errorf("rewound to the beginning: %+v", got)
	}
	if got := c.Reach(true); got.Turns != 2 || got.Parents[2] != "2" {
		t.Errorf("mended: %+v", got)
	}
}

func TestCompacted(t *testing.T) {
	line, kept, ok := chainOf("p 1 - 00\na 2 1 05\nb+2 3 - 10\np 4 3 11").Compacted()
	if line != 2 || !ok || !maps.Equal(kept, map[int]bool{1: true}) {
		t.Errorf("got line %d, kept %v, %t", line, kept, ok)
	}
	if _, _, ok := chainOf("p 1 - 00").Compacted(); ok {
		t.Error("it was never compacted")
	}
}

func TestSetParent(t *testing.T) {
	for row, want := range map[string]string{
		`{"parentUuid":"a","uuid":"b","message":{"parentUuid":"c"}}` + "\n": `{"parentUuid":"x","uuid":"b","message":{"parentUuid":"c"}}` + "\n",
		`{"uuid":"b", "parentUuid": null}`:                                  `{"uuid":"b", "parentUuid": "x"}`,
		`{"uuid":"b"}`:                                                      `{"uuid":"b"}`,
		`{"parent`:                                                          `{"parent`,
	} {
		if got := string(claude.SetParent([]byte(row), "x")); got != want {
			t.Errorf("%s: got %s", row, got)
		}
	}
}
