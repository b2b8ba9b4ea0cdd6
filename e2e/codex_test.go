package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"strandline/e2e/mockapi"
)

// Tests with Codex CLI. The first ones check the client's behaviour that strandline
// relies on, with a hook that only records.

// codexModels are models of the two ways in which Codex calls tools: directly, and from
// JavaScript.
const (
	codexDirect = "gpt-5.5"
	codexScript = "gpt-6.1-sol"
)

// codexFull is a number of tokens above which Codex compacts before its next request.
const codexFull = 250_000

// codex is the user's environment with Codex instead of Claude Code.
type codex struct {
	*sandbox
	flags []string // of every process
}

// newCodex returns an environment with Codex and without strandline. Compactions are the
// provider's, as with OpenAI's models: opaque items.
func newCodex(t *testing.T, model string) *codex {
	t.Helper()
	root := t.TempDir()
	home := filepath.Join(root, "home")
	s := &sandbox{t: t, client: npmClient(t, "codex", "node_modules/@openai/codex-*/vendor/*/bin/codex"),
		api: mockapi.Start(t), checked: map[string]int{}, home: home,
		config: filepath.Join(home, ".codex"), store: filepath.Join(home, ".local", "share", "strandline"), project: filepath.Join(root, "project")}
	s.env = append(s.userEnv(), "CODEX_E2E_KEY="+fakeKey)
	s.write(filepath.Join(s.config, "config.toml"), `# Ann's own settings.
model = "`+model+`"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"   # the test's folders
check_for_update_on_startup = false

[analytics]
enabled = false

[features] # no requests to the internet
plugins = false
apps = false

[model_providers.mock]
name = "OpenAI"
base_url = "`+s.api.URL()+`/v1"
wire_api = "responses"
env_key = "CODEX_E2E_KEY"

[projects.`+tomlString(s.project)+`]
trust_level = "trusted"

[tui.model_availability_nux]
"gpt-6.1-sol" = 4
`)
	s.begin()
	return &codex{sandbox: s, flags: []string{"--dangerously-bypass-hook-trust"}}
}

// tomlString returns a TOML string.
func tomlString(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// configFile is the client's configuration.
func (c *codex) configFile() string { return filepath.Join(c.config, "config.toml") }

// hooksFile is the client's list of hooks.
func (c *codex) hooksFile() string { return filepath.Join(c.config, "hooks.json") }

// rollouts are the client's transcripts, oldest first.
func (c *codex) rollouts() []string {
	c.t.Helper()
	found, err := filepath.Glob(filepath.Join(c.config, "sessions", "*", "*", "*", "rollout-*.jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	return found
}

// exec runs one turn in a process of its own and returns its requests.
func (c *codex) exec(args ...string) []*mockapi.Request {
	c.t.Helper()
	before := len(c.api.Requests())
	c.run(c.client, append(append([]string{"exec"}, c.flags...), args...)...).mustSucceed()
	return c.api.Requests()[before:]
}

// record registers a recorder for every event that Codex has.
func (c *codex) record() *recorder {
	c.t.Helper()
	r := newRecorder(c.sandbox)
	hooks := map[string]any{}
	for _, event := range []string{
		"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PreCompact", "PostCompact",
		"SubagentStart", "SubagentStop", "Stop", "SessionEnd",
	} {
		hooks[event] = []any{map[string]any{"hooks": []any{
			map[string]any{"type": "command", "command": filepath.Join(r.folder, recorderName), "timeout": 3},
		}}}
	}
	data, err := json.Marshal(map[string]any{"hooks": hooks})
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(c.hooksFile(), string(data))
	return r
}

// scriptWork adds the prompt "Find the fault." with a failing command and a patch, and a
// decision in the answer that fills the context.
func (c *codex) scriptWork(model string) {
	patch := []string{"*** Add File: gauge.txt", "+datum 54177"}
	replies := []mockapi.Reply{
		mockapi.Use(mockapi.Shell("echo gauge-offset-missing; exit 3")),
		mockapi.Use(mockapi.Patch(patch...)),
	}
	if model == codexScript {
		replies = []mockapi.Reply{mockapi.Use(mockapi.Script(`text(await tools.exec_command({cmd: 'echo gauge-offset-missing; exit 3'}));
text(await tools.apply_patch('*** Begin Patch\n` + strings.Join(patch, `\n`) + `\n*** End Patch'))`))}
	}
	c.api.On("Find the fault.", append(replies,
		mockapi.Say("The offset was missing. I decided to keep the datum of 1954 because the old tables use it.").At(codexFull))...)
	c.api.On("Go on.", mockapi.Say("Gone on."))
}

// TestCodexHooks: the events of a session of two processes, the second of which compacts first.
func TestCodexHooks(t *testing.T) {
	t.Parallel()
	for _, model := range []string{codexDirect, codexScript} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			c := newCodex(t, model)
			hook := c.record()
			hook.say("SessionStart.compact", `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"High water at 04:12."}}`)
			c.scriptWork(model)
			c.exec("Find the fault.")
			id := hook.payloads()[0].Session

			next := c.exec("resume", id, "Go on.")

			if got, want := hook.order(), "SessionStart/startup UserPromptSubmit PreToolUse/Bash PostToolUse/Bash PreToolUse/apply_patch PostToolUse/apply_patch Stop SessionEnd/other"+
				" PreCompact/auto PostCompact/auto SessionStart/resume SessionStart/compact UserPromptSubmit Stop SessionEnd/other"; got != want {
				t.Errorf("order of events:\n got %s\nwant %s", got, want)
			}
			if len(next) != 2 || next[0].Kind != mockapi.Compaction || !strings.Contains(next[0].Text(), "gauge-offset-missing") {
				t.Fatalf("%d requests of a turn that compacts first", len(next))
			}
			sent := next[1].Text()
			for text, want := range map[string]bool{
				"Find the fault.": true, "Go on.": true, "High water at 04:12.": true, // prompts and what hooks add
				"gauge-offset-missing": false, "gauge.txt": false, "datum of 1954": false, // commands, files, answers
			} {
				if strings.Contains(sent, text) != want {
					t.Errorf("%q in the request after a compaction: %t, want %t", text, !want, want)
				}
			}
		})
	}
}

// TestCodexCutsWhatHooksAdd: text of up to 10,000 bytes arrives whole; of more, the
// middle is replaced by the path of a file.
func TestCodexCutsWhatHooksAdd(t *testing.T) {
	t.Parallel()
	for size, whole := range map[int]bool{10_000: true, 10_001: false} {
		c := newCodex(t, codexDirect)
		text := "HEAD" + strings.Repeat("é", size/2-4) + strings.Repeat(".", size%2) + "TAIL"
		c.record().say("SessionStart.startup", `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"`+text+`"}}`)
		c.api.On("hello", mockapi.Say("Good day."))

		sent := c.exec("hello")[0].Text()

		if strings.Contains(sent, text) != whole || strings.Contains(sent, "Full hook output saved to: ") == whole {
			t.Errorf("%d bytes arrive whole: %t, want %t", len(text), !whole, whole)
		}
	}
}

// TestCodexRunsNoHookThatIsNotTrusted is why init asks the user to start Codex once.
func TestCodexRunsNoHookThatIsNotTrusted(t *testing.T) {
	t.Parallel()
	c := newCodex(t, codexDirect)
	hook := c.record()
	c.flags = nil
	c.api.On("hello", mockapi.Say("Good day."))

	c.exec("hello")

	if _, err := os.Stat(filepath.Join(hook.folder, "payloads.jsonl")); err == nil {
		t.Errorf("hooks ran: %s", hook.order())
	}
}

// TestCodexCompactsInTheMiddleOfATurn: between two tool calls, without a prompt.
func TestCodexCompactsInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	c := newCodex(t, codexDirect)
	hook := c.record()
	hook.say("SessionStart.compact", `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"High water at 04:12."}}`)
	c.api.On("run them", mockapi.Use(mockapi.Shell("echo first-step")).At(codexFull), mockapi.Use(mockapi.Shell("echo second-step")), mockapi.Say("All done."))

	requests := c.exec("run them")

	if got, want := hook.order(), "SessionStart/startup UserPromptSubmit PreToolUse/Bash PostToolUse/Bash PreCompact/auto PostCompact/auto SessionStart/compact"+
		" PreToolUse/Bash PostToolUse/Bash Stop SessionEnd/other"; got != want {
		t.Errorf("order of events:\n got %s\nwant %s", got, want)
	}
	if len(requests) != 4 || requests[1].Kind != mockapi.Compaction {
		t.Fatalf("%d requests of a turn that compacts", len(requests))
	}
	if sent := requests[2].Text(); !strings.Contains(sent, "High water at 04:12.") || strings.Contains(sent, "first-step") {
		t.Errorf("the request after the compaction: %s", tail(sent))
	}
}

// connect installs strandline with Codex as the client.
func (c *codex) connect() {
	c.t.Helper()
	c.installWith("--client", "codex")
}

// TestCodexRestores: after a compaction, before a prompt and within a turn, the next
// request has what Codex dropped, and not the prompts, which it keeps.
func TestCodexRestores(t *testing.T) {
	t.Parallel()
	for _, model := range []string{codexDirect, codexScript} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			c := newCodex(t, model)
			c.connect()
			c.scriptWork(model)
			c.exec("Find the fault.")

			next := c.exec("resume", "--last", "Go on.")

			if len(next) != 2 || next[0].Kind != mockapi.Compaction {
				t.Fatalf("%d requests of a turn that compacts first", len(next))
			}
			c.checkRestored(next[1])
			c.api.On(datumPrompt, mockapi.Say("It is."))
			other := c.exec(datumPrompt)[0]
			c.recalled(other)
			c.searches(other)
			c.checkLog()
		})
	}
	t.Run("within a turn", func(t *testing.T) {
		t.Parallel()
		c := newCodex(t, codexDirect)
		c.connect()
		c.api.On("Find the fault.",
			mockapi.Use(mockapi.Shell("echo gauge-offset-missing; exit 3")).Saying("I decided to keep the datum of 1954 because the old tables use it."),
			mockapi.Use(mockapi.Patch("*** Add File: gauge.txt", "+datum 54177")).At(codexFull), mockapi.Say("All done."))
		requests := c.exec("Find the fault.")
		if len(requests) != 4 || requests[2].Kind != mockapi.Compaction {
			t.Fatalf("%d requests of a turn that compacts", len(requests))
		}
		c.checkRestored(requests[3])
		c.checkLog()
	})
}

// checkRestored checks the request after a compaction of scriptWork's turn.
func (c *codex) checkRestored(req *mockapi.Request) {
	c.t.Helper()
	blocks, _ := records(req.Text())
	if len(blocks) != 1 {
		c.t.Fatalf("%d restored contexts in %s", len(blocks), tail(req.Text()))
	}
	for text, want := range map[string]bool{
		"echo gauge-offset-missing": true, "exit 3": true, "gauge.txt": true, "datum of 1954": true, "Find the fault.": false,
	} {
		if strings.Contains(blocks[0], text) != want {
			c.t.Errorf("%q is in the restored context: %t, want %t:\n%s", text, !want, want, blocks[0])
		}
	}
	if len(blocks[0]) > 10_000 {
		c.t.Errorf("%d bytes", len(blocks[0]))
	}
}

// exported fails the test unless the archive has every rollout byte for byte.
func (c *codex) exported() {
	c.t.Helper()
	c.awaitProcesses()
	for _, path := range c.rollouts() {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		id := name[len("rollout-2026-11-23T04-29-20-"):]
		if got, want := c.strandline("export", id).mustSucceed().stdout, c.read(path); got != want {
			c.t.Errorf("export %s: %s", id, firstDifference(got, want))
		}
	}
}

// TestCodexResumesARestoredSession: the client continues a session of which it lost
// everything.
func TestCodexResumesARestoredSession(t *testing.T) {
	t.Parallel()
	c := newCodex(t, codexDirect)
	c.connect()
	c.api.On("What is the port?", mockapi.Say("The port is 54177."))
	c.api.On("Go on.", mockapi.Say("Gone on."))
	c.exec("What is the port?")
	c.exported()
	before := map[string]string{}
	for _, path := range c.rollouts() {
		before[path] = c.read(path)
	}
	var id string
	for path := range before {
		id = strings.TrimSuffix(filepath.Base(path), ".jsonl")[len("rollout-2026-11-23T04-29-20-"):]
	}
	config, hooks := c.read(c.configFile()), c.read(c.hooksFile())
	if err := os.RemoveAll(c.config); err != nil {
		t.Fatal(err)
	}
	c.write(c.configFile(), config)
	c.write(c.hooksFile(), hooks)

	c.strandline("rebuild", id).mustSucceed()

	for path, text := range before {
		if got := c.read(path); got != text {
			t.Errorf("rebuild: %s", firstDifference(got, text))
		}
	}
	if sent := c.exec("resume", id, "Go on.")[0].Text(); !strings.Contains(sent, "The port is 54177.") {
		t.Errorf("the resumed session begins with %s", tail(sent))
	}
	c.exported()
}

// TestCodexUsage: the hooks count the tokens and the window that the rollout names, and
// where Codex compacts.
func TestCodexUsage(t *testing.T) {
	t.Parallel()
	c := newCodex(t, codexDirect)
	c.connect()
	c.api.On("What is the port?", mockapi.Say("The port is 54177.").At(123_000))
	c.exec("What is the port?")
	c.awaitProcesses()

	states, err := filepath.Glob(filepath.Join(c.store, "state", "*-*-*.json"))
	if err != nil || len(states) != 1 {
		t.Fatalf("usage records %v (%v)", states, err)
	}
	var k struct {
		known
		Threshold int64 `json:"threshold"`
	}
	if err := json.Unmarshal([]byte(c.read(states[0])), &k); err != nil {
		t.Fatal(err)
	}
	if !k.counted(123_000) && k.Tokens != 123_000 || k.Window != 258_400 || k.From != "client" || k.Threshold != 244_800 {
		t.Errorf("usage %+v, want 123,000 of 258,400 and a compaction at 244,800:\n%s", k, c.read(states[0]))
	}
}
