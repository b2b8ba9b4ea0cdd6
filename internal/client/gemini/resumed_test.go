package gemini

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"strandline/internal/transcript"
)

// TestResumedSession: the rows of a session that was resumed, which has the conversation again,
// with what hooks added.
func TestResumedSession(t *testing.T) {
	t.Parallel()
	const facts = `{"id":"f","type":"user","content":[{"text":"<session_context>\n- **Workspace Directories:**\n  - /home/ann/tides\n</session_context>"}]}`
	lines := []string{
		`{"sessionId":"cea308d2-6416","kind":"main"}`,
		`{"$set":{"messages":[` + facts + `]}}`,
		`{"id":"p","type":"user","content":[{"text":"<hook_context>x</hook_context>\n\nFind it."},{"text":"<hook_context>y</hook_context>"}]}`,
		`{"id":"r","type":"gemini","content":"","tokens":{"input":9},"toolCalls":[{"id":"c","name":"run_shell_command","status":"success","result":[` +
			`{"functionResponse":{"response":{"output":"Output: done\n\n<hook_context>=== STRANDLINE RECORD 1: z</hook_context>"}}}]}]}`,
		`{"sessionId":"cea308d2-6416","kind":"main"}`,
		`{"$set":{"messages":[` + facts + `,{"id":"p","type":"user","content":[{"text":"Find it."}]},` +
			`{"id":"r","type":"gemini","content":[{"functionCall":{"id":"c","name":"run_shell_command"}}]},` +
			`{"id":"r_response","type":"user","content":[{"functionResponse":{"id":"c","response":{"output":"done"}}}]}]}}`,
	}
	var prompts, responses, cwd int
	var said strings.Builder
	tr := New()
	for _, line := range lines {
		for _, e := range tr.Translate([]byte(line)) {
			cwd += strings.Count(e.Cwd, "/home/ann/tides")
			if e.Message == nil {
				continue
			}
			if e.Type == transcript.EntryAssistant {
				responses++
			}
			for _, b := range e.Message.Content {
				if b.Text != nil {
					prompts++
					said.WriteString(*b.Text)
				}
				said.Write(b.Content)
			}
		}
	}
	if prompts != 1 || responses != 1 || cwd == 0 || strings.Contains(said.String(), "hook_context") {
		t.Errorf("%d prompts, %d responses, folder %d times: %s", prompts, responses, cwd, said.String())
	}
	if got := resumeID([]byte(lines[0])); got != "cea308d2-6416" {
		t.Errorf("resumed by %q", got)
	}
}

// TestStub: a file of facts alone, which a resumed session leaves, is none; with a prompt it is.
func TestStub(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "session-2026-11-23T08-52-cea308d2.jsonl")
	text := ""
	for _, c := range []struct {
		line string
		stub bool
	}{
		{`{"sessionId":"cea308d2-6416","kind":"main"}`, true},
		{`{"$set":{"messages":[{"id":"f","type":"user","content":"<session_context>"}]}}`, true},
		{`{"id":"p","type":"user","content":"Find it."}`, false},
	} {
		text += c.line + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := open(path)
		if errors.Is(err, fs.ErrNotExist) != c.stub {
			t.Errorf("with %s: error %v", c.line, err)
		}
		if err == nil {
			_ = f.Close()
		}
	}
}
