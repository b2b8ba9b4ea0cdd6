package e2e

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/e2e/mockapi"
)

// Tests with OpenCode and the plugin that strandline gives it.

// opencode is the user's environment with OpenCode instead of Claude Code.
type opencode struct{ *sandbox }

// opencodeFull is a number of tokens above which OpenCode compacts.
const opencodeFull = 195_000

// newOpencode returns an environment with OpenCode and strandline.
func newOpencode(t *testing.T) *opencode {
	t.Helper()
	root := t.TempDir()
	home := filepath.Join(root, "home")
	s := &sandbox{
		t: t, client: npmClient(t, "opencode", "node_modules/opencode-*/bin/opencode"), api: mockapi.Start(t), checked: map[string]int{}, home: home,
		config: filepath.Join(home, ".config", "opencode"), store: filepath.Join(home, ".local", "share", "strandline"), project: filepath.Join(root, "project"),
	}
	s.env = append(s.userEnv(), "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "npm_config_offline=true")
	s.write(filepath.Join(s.config, "opencode.json"), `{
  // Ann's own settings
  "model": "mock/claude-mock", "permission": "allow", "share": "disabled",
  "provider": {"mock": {"npm": "@ai-sdk/anthropic", "options": {"baseURL": "`+s.api.URL()+`/v1", "apiKey": "`+fakeKey+`"},
    "models": {"claude-mock": {"limit": {"context": 200000, "output": 8000}}}}},
}
`)
	s.begin()
	s.installWith("--client", "opencode")
	return &opencode{s}
}

// ask runs one turn in a process of its own and returns its requests. The client quotes
// an argument that has spaces.
func (o *opencode) ask(prompt string, flags ...string) []*mockapi.Request {
	o.t.Helper()
	before := len(o.api.Requests())
	o.run(o.client, slices.Concat([]string{"run"}, flags, strings.Fields(prompt))...).mustSucceed()
	return o.api.Requests()[before:]
}

// opencodeTool calls a tool of OpenCode.
func opencodeTool(name string, input map[string]any) mockapi.Reply {
	return mockapi.Use(mockapi.Tool{Name: name, Input: input})
}

// TestOpencodeRestores: a session crosses a compaction. The prompt of the compaction has
// the archive's facts, and the requests after it have what was lost, in a new process as well. The archive
// has the session as the client exports it.
func TestOpencodeRestores(t *testing.T) {
	t.Parallel()
	o := newOpencode(t)
	o.api.On("Find the fault.",
		opencodeTool("bash", map[string]any{"command": "echo gauge-offset-missing; exit 3", "description": "Look"}),
		opencodeTool("write", map[string]any{"filePath": filepath.Join(o.project, "gauge.txt"), "content": "datum 54177\n"}),
		opencodeTool("task", map[string]any{"description": "Look around", "prompt": "Which tables are old?", "subagent_type": "general"}),
		mockapi.Say("The offset was missing. I decided to keep the datum of 1954 because the old tables use it.").At(opencodeFull))
	o.api.On("Which tables are old?", mockapi.Say("Those of Cuxhaven."))
	o.api.OnPart("anchored summary", mockapi.Say("We looked for a fault."))
	o.api.OnPart("Continue if you have next steps", mockapi.Say("Nothing is left."))
	o.api.On("Go on.", mockapi.Say("Gone on."))

	first := o.ask("Find the fault.", "--title", "Faults")
	next := o.ask("Go on.", "--continue")

	if len(first) != 7 || len(next) != 1 {
		t.Fatalf("%d and %d requests", len(first), len(next))
	}
	steered, restored, again := first[5], first[6], next[0]
	if blocks, rest := records(steered.Text()); len(blocks) != 1 || !strings.Contains(blocks[0], "datum of 1954") || !strings.Contains(rest, "Keep in the summary") {
		t.Errorf("the prompt of the compaction: %s", tail(steered.Text()))
	}
	for name, req := range map[string]*mockapi.Request{"within the turn": restored, "in a new process": again} {
		blocks, rest := records(req.Text())
		if len(blocks) != 1 {
			t.Fatalf("%s: %d restored contexts in %s", name, len(blocks), tail(req.Text()))
		}
		for _, want := range []string{"echo gauge-offset-missing", "exit 3", "gauge.txt", "datum of 1954", "Look around"} {
			if !strings.Contains(blocks[0], want) || strings.Contains(rest, want) {
				t.Errorf("%s: %q is not in the restored context, or elsewhere:\n%s", name, want, blocks[0])
			}
		}
	}
	o.awaitProcesses()
	o.exported()
	if out := o.strandline("search", "--all", "gauge-offset-missing").mustSucceed().stdout; !strings.Contains(out, "/0.0") {
		t.Errorf("search: %s", out)
	}
	if text, _ := records(o.strandline("export", o.session()).mustSucceed().stdout); len(text) > 0 {
		t.Errorf("what the plugin adds is in the client's session: %q", text)
	}
	o.api.On(datumPrompt, mockapi.Say("It is."))
	other := o.ask(datumPrompt, "--title", "Datum")[0]
	o.recalled(other)
	o.searches(other)
	o.checkLog()
	o.strandline("uninstall", "--client", "opencode").mustSucceed()
	if got := o.read(filepath.Join(o.config, "opencode.json")); strings.Contains(got, "strandline") || !strings.Contains(got, "// Ann's own settings") {
		t.Errorf("after uninstall:\n%s", got)
	}
}

// session is the id of the only main session in the archive.
func (o *opencode) session() string {
	o.t.Helper()
	found, err := filepath.Glob(filepath.Join(o.store, "log", "opencode", "*", "ses_*.jsonl.zst"))
	if err != nil || len(found) != 1 {
		o.t.Fatalf("logs %v (%v)", found, err)
	}
	return strings.TrimSuffix(filepath.Base(found[0]), ".jsonl.zst")
}

// exported fails the test unless the archive's last version of each message is what the
// client exports, parts included.
func (o *opencode) exported() {
	o.t.Helper()
	type message struct {
		Info  map[string]any   `json:"info"`
		Parts []map[string]any `json:"parts"`
	}
	id := o.session()
	var want struct {
		Messages []message `json:"messages"`
	}
	if err := json.Unmarshal([]byte(o.run(o.client, "export", id).mustSucceed().stdout), &want); err != nil {
		o.t.Fatal(err)
	}
	got := map[string]message{}
	for line := range bytes.Lines([]byte(o.strandline("export", id).mustSucceed().stdout)) {
		var l struct {
			Row     string           `json:"row"`
			Message map[string]any   `json:"message"`
			Parts   []map[string]any `json:"parts"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			o.t.Fatal(err)
		}
		if l.Message != nil {
			got[l.Row] = message{l.Message, l.Parts}
		}
	}
	if len(got) != len(want.Messages) || len(got) < 8 {
		o.t.Errorf("%d messages, want %d", len(got), len(want.Messages))
	}
	equal := func(a, b map[string]any) bool {
		x, errX := json.Marshal(a)
		y, errY := json.Marshal(b)
		return errX == nil && errY == nil && bytes.Equal(x, y)
	}
	for _, m := range want.Messages {
		id, _ := m.Info["id"].(string)
		one := got[id]
		if !equal(one.Info, m.Info) || !slices.EqualFunc(one.Parts, m.Parts, equal) {
			o.t.Errorf("message %v: %v\nwant %v\nof %v", m.Info["id"], one, m, slices.Sorted(maps.Keys(got)))
		}
	}
}
