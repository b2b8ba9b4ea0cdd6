package claude_test

import (
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

const conversationRows = `{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"First."}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"id":"m1","role":"assistant","content":[{"type":"thinking","thinking":"Hm."}]}}
{"type":"assistant","uuid":"a2","parentUuid":"a1","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/a/f.go","offset":3,"limit":9}}]}}
{"type":"user","uuid":"u2","parentUuid":"a2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"no such file"}]}]}}
{"type":"user","uuid":"u3","parentUuid":"u2","isMeta":true,"message":{"role":"user","content":"<system-reminder>x</system-reminder>"}}
{"type":"assistant","uuid":"s1","isSidechain":true,"message":{"id":"m9","role":"assistant","content":[{"type":"text","text":"aside"}]}}
{"type":"assistant","uuid":"a3","parentUuid":"u2","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"A dead end."}]}}
{"type":"user","uuid":"u4","parentUuid":"u2","message":{"role":"user","content":"Another way."}}
{"type":"assistant","uuid":"a4","parentUuid":"u4","message":{"id":"m3","role":"assistant","content":[{"type":"text","text":"Done."}]}}
`

func TestConversation(t *testing.T) {
	t.Parallel()
	var got []string
	for _, m := range claude.Conversation([]byte(conversationRows), nil) {
		line := m.Role + " " + m.Text + "|" + m.Prompt
		for _, u := range m.Uses {
			line += "|" + u.ID + " " + u.Name + " " + u.Path
			if u.Line != 3 || u.Kind != archive.CallRead {
				t.Errorf("%+v", u)
			}
		}
		for _, r := range m.Results {
			line += "|" + r.ID + " " + r.Text
			if !r.Failed {
				t.Error("the result did not fail")
			}
		}
		got = append(got, line)
	}
	want := []string{"user First.|First.", "assistant |", "assistant ||t1 Read /a/f.go", "user ||t1 no such file", "user Another way.|Another way.", "assistant Done.|"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The row after a slash command holds its expansion, whichever of them is the prompt.
func TestConversationHasExpansions(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string]string{
		"a command of the user": `{"type":"user","uuid":"u1","message":{"role":"user","content":"<command-message>tide is running…</command-message>\n<command-name>/tide</command-name>\n<command-args>7</command-args>"}}`,
		"an echo":               `{"type":"user","uuid":"u1","message":{"role":"user","content":"<command-name>/tide</command-name>\n<command-message>tide</command-message>\n<command-args>7</command-args>"}}`,
	} {
		rows += "\n" + `{"type":"user","uuid":"u2","parentUuid":"u1","isMeta":true,"message":{"role":"user","content":[{"type":"text","text":"Never drain the harbour."}]}}` +
			"\n" + `{"type":"assistant","uuid":"a1","parentUuid":"u2","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"On it."}]}}` +
			"\n" + `{"type":"user","uuid":"u3","parentUuid":"a1","isMeta":true,"message":{"role":"user","content":"A later note."}}` + "\n"
		got := claude.Conversation([]byte(rows), nil)
		if len(got) != 2 || got[0].Expansion != "Never drain the harbour." || got[1].Expansion != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		role, text, prompt string
		summary            bool
	}{
		{"user", "Hello <system-reminder>x</system-reminder>", "Hello", false},
		{"user", "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>now</command-args>", "/review now", false},
		{"user", "<command-name>/compact</command-name>", "", false},
		{"user", "<local-command-stdout>x</local-command-stdout>", "", false},
		{"user", "[Request interrupted by user]", "", false},
		{"user", "This session is being continued from a previous conversation that ran out.", "", true},
		{"assistant", "Hello", "", false},
		{"user", "", "", false},
	} {
		m := transcript.Message{Role: tt.role, Text: tt.text}
		claude.Classify(&m)
		if m.Prompt != tt.prompt || m.Summary != tt.summary {
			t.Errorf("%q: %q, %t", tt.text, m.Prompt, m.Summary)
		}
	}
}

func TestToolUse(t *testing.T) {
	t.Parallel()
	write := claude.ToolUse("t", "Write", []byte(`{"file_path":"/a","content":"x"}`))
	if !write.Whole || write.Content != "x" || write.Path != "/a" {
		t.Errorf("%+v", write)
	}
	edits := claude.ToolUse("t", "MultiEdit", []byte(`{"file_path":"/a","edits":[{"old_string":"x","new_string":"y","replace_all":true},{"old_string":"z","new_string":""}]}`))
	if len(edits.Changes) != 2 || !edits.Changes[0].All || edits.Changes[1].All || edits.Whole {
		t.Errorf("%+v", edits)
	}
	if u := claude.ToolUse("t", "Bash", []byte(`{"command":"ls"}`)); u.Command != "ls" {
		t.Errorf("%+v", u)
	}
	if u := claude.ToolUse("t", "Task", []byte(`{"prompt":"look"}`)); u.Brief != "prompt look" {
		t.Errorf("%+v", u)
	}
	for _, raw := range []string{"", "null", "[]", `"x"`, "7", "{"} {
		claude.ToolUse("t", "Edit", []byte(raw)) // must not panic
	}
}

func FuzzConversation(f *testing.F) {
	f.Add([]byte(conversationRows))
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","content":{"a":`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, m := range claude.Conversation(raw, nil) {
			if m.Role != "user" && m.Role != "assistant" {
				t.Errorf("role %q", m.Role)
			}
		}
	})
}
