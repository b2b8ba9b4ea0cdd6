package story

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/bench/synth"
)

func render(t *testing.T, text string) (Files, []string) {
	t.Helper()
	files, err := Render(text, synth.Options{
		Session: "s1", Cwd: "/p", Model: "m", Start: time.Date(2026, 9, 1, 9, 0, 0, 0, time.UTC), Seed: 1, Context: 1000,
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, slices.Collect(strings.Lines(string(files["s1.jsonl"])))
}

// blocks returns "type name-or-text" of every content block, in order.
func blocks(t *testing.T, lines []string) []string {
	t.Helper()
	var all []string
	for _, line := range lines {
		var row struct {
			Type    string
			Subtype string
			Message struct{ Content json.RawMessage }
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		var text string
		if json.Unmarshal(row.Message.Content, &text) == nil {
			all = append(all, "prompt "+text)
			continue
		}
		var content []struct {
			Type, Text, Thinking, Name string
			Content                    json.RawMessage
			IsError                    bool `json:"is_error"`
		}
		if json.Unmarshal(row.Message.Content, &content) != nil {
			if row.Subtype != "" {
				all = append(all, row.Subtype)
			}
			continue
		}
		for _, c := range content {
			entry := strings.TrimSpace(c.Type + " " + c.Name + c.Text + c.Thinking)
			if c.Type == "tool_result" {
				if json.Unmarshal(c.Content, &text) != nil {
					text = string(c.Content)
				}
				entry += " " + text
			}
			if c.IsError {
				entry += " (error)"
			}
			all = append(all, entry)
		}
	}
	return all
}

func TestRender(t *testing.T) {
	for name, c := range map[string]struct {
		story string
		want  []string
	}{
		"a turn": {
			"@@ prompt\nHello\nthere\n@@ say\nHi.\n@@ done\n",
			[]string{"prompt Hello\nthere", "text Hi.", "turn_duration"},
		},
		"text and call are one response": {
			"@@ prompt\nx\n@@ think\nhm\n@@ say\nI list.\n@@ bash ls\na\nb\n@@ say\nDone.\n",
			[]string{"prompt x", "thinking hm", "text I list.", "tool_use Bash", "tool_result a\nb", "text Done."},
		},
		"a command that fails": {
			"@@ prompt\nx\n@@ bash false\nexit 3\nno\n",
			[]string{"prompt x", "tool_use Bash", "tool_result Exit code 3\nno (error)"},
		},
		"an output that only looks like a failure": {
			"@@ prompt\nx\n@@ bash cat log\nexit strategy\n",
			[]string{"prompt x", "tool_use Bash", "tool_result exit strategy"},
		},
		"calls in parallel": {
			"@@ prompt\nx\n@@ read a.go\npackage a\n@@ +read b.go\npackage b\n@@ bash ls\n",
			[]string{
				"prompt x", "tool_use Read", "tool_use Read", "tool_result 1\tpackage a", "tool_result 1\tpackage b",
				"tool_use Bash", "tool_result ",
			},
		},
		"files": {
			"@@ prompt\nx\n@@ write a.go\npackage a\n@@ edit a.go\na\n=====\nb\n@@ grep foo\na.go:1:foo\n@@ todo\n[x] one\n[>] two\n",
			[]string{
				"prompt x", "tool_use Write", "tool_result Wrote /p/a.go", "tool_use Edit", "tool_result Changed /p/a.go",
				"tool_use Grep", "tool_result a.go:1:foo", "tool_use TodoWrite", "tool_result The list is changed.",
			},
		},
		"a compaction": {
			"@@ prompt\nx\n@@ compact auto 900 10\nSummary.\n@@ say\nOn.\n",
			[]string{"prompt x", "compact_boundary", "prompt Summary.", "text On."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, lines := render(t, c.story)
			if got := blocks(t, lines); !slices.Equal(got, c.want) {
				t.Errorf("got\n%q, want\n%q", got, c.want)
			}
		})
	}
}

func TestRenderAgent(t *testing.T) {
	files, lines := render(t, "@@ prompt\nx\n@@ agent Explore find it\nFind it.\n@@ grep it\na.go:1:it\n@@ report\nIn a.go.\n@@ say\nFound.\n")
	want := []string{"prompt x", "tool_use Agent", `tool_result [{"type":"text","text":"In a.go."}]`, "text Found."}
	if got := blocks(t, lines); !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
	if len(files) != 3 {
		t.Fatalf("%d files, want the session, the agent's run and its description", len(files))
	}
	for name, data := range files {
		switch {
		case strings.HasSuffix(name, ".meta.json"):
			var meta struct{ AgentType, Description, ToolUseID string }
			if err := json.Unmarshal(data, &meta); err != nil || meta.AgentType != "Explore" || meta.Description != "find it" || meta.ToolUseID == "" {
				t.Errorf("%s: %+v, %v", name, meta, err)
			}
		case strings.HasPrefix(name, "s1/subagents/agent-"):
			want := []string{"prompt Find it.", "tool_use Grep", "tool_result a.go:1:it", "text In a.go."}
			if got := blocks(t, slices.Collect(strings.Lines(string(data)))); !slices.Equal(got, want) {
				t.Errorf("the agent's run is\n%q, want\n%q", got, want)
			}
		}
	}
}

func TestRenderLongOutput(t *testing.T) {
	long := strings.Repeat("all work and no play\n", 2000)
	files, lines := render(t, "@@ prompt\nx\n@@ bash make\n"+long)
	for name, data := range files {
		if strings.HasPrefix(name, "s1/tool-results/") && string(data) == strings.TrimSuffix(long, "\n") {
			if got := strings.Join(lines, ""); len(got) > 10_000 || !strings.Contains(got, name) {
				t.Errorf("the transcript has %d bytes, or does not name %s", len(got), name)
			}
			return
		}
	}
	t.Error("no side file holds the output")
}

func TestRenderErrors(t *testing.T) {
	for story, want := range map[string]string{
		"hello":                        "line 1: text before",
		"@@ sing\nla":                  `line 1: unknown section "sing"`,
		"@@ +say\nla":                  "line 1: say is not a tool call",
		"\n@@ compact auto 1\nx":       "line 2: compact needs",
		"@@ compact auto one 2\nx":     "line 1: strconv",
		"@@ compact auto 1 two\nx":     "line 1: strconv",
		"@@ agent Explore look\ngo":    "line 1: agent without a report",
		"@@ prompt\nx\n@@ report\nyes": "line 3: report without an agent",
	} {
		if _, err := Render(story, synth.Options{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", story, err, want)
		}
	}
}

func FuzzRender(f *testing.F) {
	f.Add("@@ prompt\nx\n@@ +bash ls\n@@ done\n")
	f.Add("@@ agent a b\n@@ agent c d\n@@ report\n@@ report\n")
	f.Add("@@ bash\nexit 1")
	f.Fuzz(func(t *testing.T, text string) {
		files, err := Render(text, synth.Options{Session: "s"})
		if err != nil {
			return
		}
		for name, data := range files {
			if !strings.HasSuffix(name, ".jsonl") {
				continue
			}
			for line := range strings.Lines(string(data)) {
				if !json.Valid([]byte(line)) {
					t.Fatalf("%s: no JSON: %s", name, line)
				}
			}
		}
	})
}
