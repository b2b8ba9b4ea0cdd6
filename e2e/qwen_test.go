package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"strandline/e2e/mockapi"
)

// Tests with Qwen Code and Gemini CLI, which share their tools' names and the form of their
// settings. The first test of each shows what the client does, with a hook that only records.

// agent is the user's environment with one of these clients instead of Claude Code.
type agent struct {
	*sandbox
	name  string
	start []string // of a session with a prompt, which follows
	again []string // of the last session
}

// newAgent returns an environment with a client and without strandline.
func newAgent(t *testing.T, name, program, settings string, env func(api string) []string) *agent {
	t.Helper()
	root := t.TempDir()
	home := filepath.Join(root, "home")
	s := &sandbox{t: t, client: npmClient(t, name, program), api: mockapi.Start(t), checked: map[string]int{}, home: home,
		config: filepath.Join(home, "."+name), store: filepath.Join(home, ".local", "share", "strandline"), project: filepath.Join(root, "project")}
	s.env = append(s.userEnv(), append(env(s.api.URL()), "TERM=xterm-256color")...)
	s.write(s.settingsFile(), settings)
	s.begin()
	return &agent{sandbox: s, name: name}
}

// newQwen returns Qwen Code, which compacts at 85 % of a window of a million tokens.
func newQwen(t *testing.T) *agent {
	t.Helper()
	a := newAgent(t, "qwen", "node_modules/@qwen-code/qwen-code/cli-entry.js", `{
  // Ann's own settings.
  "security": {"auth": {"selectedType": "openai"}},
  "privacy": {"usageStatisticsEnabled": false}, "general": {"disableAutoUpdate": true},
  "memory": {"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
  "$version": 4
}
`, func(api string) []string {
		return []string{"OPENAI_API_KEY=" + fakeKey, "OPENAI_BASE_URL=" + api + "/v1", "OPENAI_MODEL=qwen3-coder-plus", "QWEN_CODE_NO_RELAUNCH=true"}
	})
	a.start, a.again = []string{"--yolo", "-p"}, []string{"--yolo", "--continue", "-p"}
	return a
}

// newGemini returns Gemini CLI, which compacts at 4,000 tokens here.
func newGemini(t *testing.T) *agent {
	t.Helper()
	a := newAgent(t, "gemini", "node_modules/@google/gemini-cli/bundle/gemini.js", `{
  // Ann's own settings.
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false}, "general": {"enableAutoUpdate": false},
  "model": {"compressionThreshold": 0.004}
}
`, func(api string) []string {
		return []string{"GEMINI_API_KEY=" + fakeKey, "GOOGLE_GEMINI_BASE_URL=" + api, "GEMINI_CLI_NO_RELAUNCH=true", "GEMINI_CLI_TRUST_WORKSPACE=true"}
	})
	a.start = []string{"--yolo", "-m", "gemini-2.5-pro", "-p"}
	a.again = []string{"--yolo", "-m", "gemini-2.5-pro", "--resume", "latest", "-p"}
	return a
}

// exec runs a turn in a process of its own and returns its requests.
func (a *agent) exec(args []string, prompt string) []*mockapi.Request {
	a.t.Helper()
	before := len(a.api.Requests())
	a.run("node", append(append([]string{a.client}, args...), prompt)...).mustSucceed()
	return a.api.Requests()[before:]
}

// work runs a turn with a failing command, a new file and a decision, which fills the context.
func (a *agent) work() {
	a.t.Helper()
	a.api.On("Find the fault.",
		mockapi.Use(mockapi.Run("seq 6000; echo gauge-offset-missing; exit 3")),
		mockapi.Use(mockapi.WriteFile(filepath.Join(a.project, "gauge.txt"), "datum 54177\n")),
		mockapi.Say("The offset was missing. I decided to keep the datum of 1954 because the old tables use it.").At(900_000))
	a.exec(a.start, "Find the fault.")
	a.awaitProcesses()
}

// restored checks a request after a compaction of that turn.
func (a *agent) restored(text string) {
	a.t.Helper()
	blocks, _ := records(text)
	if len(blocks) != 1 {
		a.t.Fatalf("%d restored contexts in %s", len(blocks), tail(text))
	}
	for _, want := range []string{"echo gauge-offset-missing", "exit 3", "gauge.txt", "datum of 1954"} {
		if !strings.Contains(blocks[0], want) {
			a.t.Errorf("%q is not in the restored context:\n%s", want, blocks[0])
		}
	}
	a.checkLog()
}

// transcripts are the client's files, by path.
func (a *agent) transcripts() map[string]string {
	a.t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"projects/*/chats/*.jsonl", "tmp/*/chats/*.jsonl"} {
		found, err := filepath.Glob(filepath.Join(a.config, filepath.FromSlash(pattern)))
		if err != nil {
			a.t.Fatal(err)
		}
		for _, path := range found {
			if text := a.read(path); strings.Contains(text, "Find the fault.") { // no stub of Gemini CLI
				all[path] = text
			}
		}
	}
	return all
}

// session is the id of the only session.
func (a *agent) session() string {
	a.t.Helper()
	for path := range a.transcripts() {
		id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		if a.name == "gemini" {
			id = id[strings.LastIndexByte(id, '-')+1:]
		}
		return id
	}
	a.t.Fatal("no transcript")
	return ""
}

// captured fails the test unless the archive has every transcript byte for byte, a turn for
// each prompt, and nothing of what hooks added in what a search finds.
func (a *agent) captured(prompts ...string) {
	a.t.Helper()
	a.awaitProcesses()
	id := a.session()
	for path, want := range a.transcripts() {
		if got := a.strandline("export", id).mustSucceed().stdout; got != want {
			a.t.Errorf("export %s: %s", path, firstDifference(got, want))
		}
	}
	shown := a.strandline("timeline", id).mustSucceed().stdout
	for _, prompt := range prompts {
		if strings.Count(shown, prompt) != 1 {
			a.t.Errorf("%q is not once in the timeline:\n%s", prompt, shown)
		}
	}
	for _, text := range []string{"hook_context", "session_context", "user-prompt-submit"} {
		if strings.Contains(shown, text) {
			a.t.Errorf("%q is in the timeline:\n%s", text, shown)
		}
	}
	if list := a.strandline("sessions", "--client", a.name, "--all").mustSucceed().stdout; !strings.Contains(list, id[:8]) {
		a.t.Errorf("sessions of %s:\n%s", a.name, list)
	}
}

// resumes fails the test unless the client continues a session of which it lost everything.
func (a *agent) resumes(id, earlier string) {
	a.t.Helper()
	before := a.transcripts()
	for path := range before {
		if err := os.RemoveAll(filepath.Dir(path)); err != nil {
			a.t.Fatal(err)
		}
	}
	a.strandline("rebuild", id).mustSucceed()
	for path, text := range before {
		if got := a.read(path); got != text {
			a.t.Errorf("rebuild: %s", firstDifference(got, text))
		}
	}
	a.api.On("And now?", mockapi.Say("Now it is done."))
	requests := a.exec(a.again, "And now?")
	if sent := requests[len(requests)-1].Text(); !strings.Contains(sent, earlier) {
		a.t.Errorf("the resumed session begins with %s", tail(sent))
	}
}

// recalls fails the test unless a new session gets what a prompt needs of this one.
func (a *agent) recalls() {
	a.t.Helper()
	a.api.On(datumPrompt, mockapi.Say("It is."))
	a.recalled(a.exec(a.start, datumPrompt)[0])
}

// datumPrompt needs something of an earlier session in which datum 54177 was written to gauge.txt.
const datumPrompt = "Is the datum in gauge.txt right?"

// recalled fails the test unless a request has an automatic recall after datumPrompt.
func (s *sandbox) recalled(req *mockapi.Request) {
	s.t.Helper()
	sent := req.Text()
	if _, after, _ := strings.Cut(sent, datumPrompt); !strings.Contains(after, "from earlier work in this project") {
		s.t.Errorf("no automatic recall after the prompt: %s", tail(sent))
	}
}

// serverTool is a tool of strandline's MCP server in a request. Codex CLI names only the group.
var serverTool = regexp.MustCompile(`\b(mcp_+)?strandline_+(search|recall)|\bmcp__strandline: `)

// searches fails the test unless init registered an MCP server that the client starts: its tools
// are in a request.
func (s *sandbox) searches(req *mockapi.Request) {
	s.t.Helper()
	if !serverTool.Match(req.Body) {
		s.t.Errorf("no tool of strandline's MCP server in the request: %s", tail(string(req.Body)))
	}
}

// TestQwen: capture, steering, the restored context, automatic recall, MCP and a rebuilt
// session, with the real client.
func TestQwen(t *testing.T) {
	t.Parallel()
	a := newQwen(t)
	before := a.read(a.settingsFile())
	a.installWith("--client", "qwen")
	a.work()
	a.api.On("Go on.", mockapi.Use(mockapi.Run("echo second-step")), mockapi.Say("Gone on."))

	next := a.exec(a.again, "Go on.")

	if len(next) != 3 || next[0].Kind != mockapi.Compaction {
		t.Fatalf("%d requests of a turn that compacts first", len(next))
	}
	if sent := next[0].System + next[0].Text(); !strings.Contains(sent, "gauge.txt") || !strings.Contains(sent, "Additional Instructions") {
		t.Errorf("no steering text in the request for a summary: %s", tail(sent))
	}
	a.restored(next[2].System)
	a.captured("Find the fault.", "Go on.")
	a.searches(next[2])
	a.resumes(a.session(), "Gone on.")
	a.recalls()
	a.strandline("uninstall").mustSucceed()
	if got := a.read(a.settingsFile()); got != before {
		t.Errorf("uninstall: %s", firstDifference(got, before))
	}
}

// TestGemini is TestQwen with Gemini CLI, which takes the restored context with the result of
// the next tool call, or with the next prompt.
func TestGemini(t *testing.T) {
	t.Parallel()
	a := newGemini(t)
	before := a.read(a.settingsFile())
	a.installWith("--client", "gemini")
	a.work()
	a.api.On("Go on.", mockapi.Use(mockapi.Run("echo second-step")), mockapi.Say("Gone on."))

	next := a.exec(a.again, "Go on.")

	if len(next) != 4 || next[0].Kind != mockapi.Compaction || next[1].Kind != mockapi.Compaction {
		t.Fatalf("%d requests of a turn that compacts first", len(next))
	}
	a.restored(next[3].Text())
	a.captured("Find the fault.", "Go on.")
	a.searches(next[3])
	a.resumes(a.session(), "Gone on.")
	a.recalls()
	a.strandline("uninstall").mustSucceed()
	if got := a.read(a.settingsFile()); got != before {
		t.Errorf("uninstall: %s", firstDifference(got, before))
	}
}
