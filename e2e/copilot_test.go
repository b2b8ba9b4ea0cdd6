package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/e2e/mockapi"
	"strandline/internal/archive"
	"strandline/internal/text"
)

// Tests with Copilot CLI, with a provider of the user's own and without a login.

// copilot is the user's environment with Copilot CLI instead of Claude Code.
type copilot struct{ *sandbox }

// copilotFull is a number of tokens, of 168,000, at which Copilot compacts beside the turn.
const copilotFull = 140_000

// newCopilot returns an environment with Copilot CLI and strandline.
func newCopilot(t *testing.T) *copilot {
	t.Helper()
	root := t.TempDir()
	home := filepath.Join(root, "home")
	client := npmClient(t, "copilot", "node_modules/@github/copilot-*-*/copilot")
	s := &sandbox{
		t: t, client: client, api: mockapi.Start(t), checked: map[string]int{}, home: home,
		config: filepath.Join(home, ".copilot"), store: filepath.Join(home, ".local", "share", "strandline"), project: filepath.Join(root, "project"),
	}
	s.env = append(s.userEnv(), "XDG_CACHE_HOME="+filepath.Join(client, "..", "..", "..", "..", "unpacked"),
		"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_MODEL=claude-sonnet-4.5",
		"COPILOT_PROVIDER_BASE_URL="+s.api.URL(), "COPILOT_PROVIDER_API_KEY="+fakeKey)
	s.begin()
	s.write(filepath.Join(s.config, "mcp-config.json"), "{\n}\n")
	s.installWith("--client", "copilot")
	return &copilot{s}
}

// ask runs one turn in a process of its own and returns its requests.
func (c *copilot) ask(prompt string, args ...string) []*mockapi.Request {
	c.t.Helper()
	before := len(c.api.Requests())
	c.run(c.client, append(args, "--prompt", prompt, "--allow-all-tools")...).mustSucceed()
	return c.api.Requests()[before:]
}

// transcripts are the client's.
func (c *copilot) transcripts() []string {
	c.t.Helper()
	found, err := filepath.Glob(filepath.Join(c.config, "session-state", "*", "events.jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	return found
}

// exported fails the test unless the archive has every transcript byte for byte. Copilot writes
// its last rows after the last hook.
func (c *copilot) exported() {
	c.t.Helper()
	c.awaitProcesses()
	c.strandline("import", "--client", "copilot").mustSucceed()
	for _, path := range c.transcripts() {
		id := filepath.Base(filepath.Dir(path))
		if got, want := c.strandline("export", id).mustSucceed().stdout, c.read(path); got != want {
			c.t.Errorf("export %s: %s", id, firstDifference(got, want))
		}
	}
	c.checkLog()
}

// copilotBash calls Copilot's shell tool.
func copilotBash(command string) mockapi.Tool {
	return mockapi.Tool{Name: "bash", Input: map[string]any{"command": command, "description": "Run it"}}
}

// scriptWork adds the prompt "Find the fault." with a failing command, a new file and a
// decision. Copilot puts the time before a prompt.
func (c *copilot) scriptWork() {
	c.api.OnPart("Find the fault.",
		mockapi.Use(copilotBash("echo gauge-offset-missing; exit 3")),
		mockapi.Use(mockapi.Tool{Name: "create", Input: map[string]any{"path": filepath.Join(c.project, "gauge.txt"), "file_text": "datum 54177\n"}}),
		mockapi.Say("The offset was missing. I decided to keep the datum of 1954 because the old tables use it."))
}

// TestCopilotRestores: Copilot compacts beside a turn. What its summary omits follows the
// result of the next tool.
func TestCopilotRestores(t *testing.T) {
	t.Parallel()
	c := newCopilot(t)
	c.scriptWork()
	c.api.Summarize("We worked.")
	c.api.OnPart("Go on.", mockapi.Use(copilotBash("echo first")).At(copilotFull), mockapi.Use(copilotBash("echo second")),
		mockapi.Use(copilotBash("echo third")), mockapi.Use(copilotBash("echo fourth")), mockapi.Say("Gone on."))
	c.api.Before(func(ctx context.Context, req *mockapi.Request) {
		if req.Kind == mockapi.Turn && strings.Contains(req.Text(), "second") {
			c.awaitText(ctx, `"type":"session.compaction_complete"`)
		}
	})
	c.ask("Find the fault.")

	sent := c.ask("Go on.", "--continue")

	last := sent[len(sent)-1]
	blocks, rest := records(last.Text())
	if len(blocks) != 1 || text.HasReplacement(blocks[0]) {
		t.Fatalf("%d restored contexts in %s", len(blocks), tail(last.Text()))
	}
	for _, want := range []string{"echo gauge-offset-missing", "exit 3", "gauge.txt", "datum of 1954"} {
		if !strings.Contains(blocks[0], want) {
			t.Errorf("%q is not in the restored context:\n%s", want, blocks[0])
		}
	}
	if strings.Contains(blocks[0], "Find the fault.") || strings.Contains(blocks[0], "shellId") {
		t.Errorf("the restored context repeats what Copilot keeps, or its notes:\n%s", blocks[0])
	}
	if strings.Contains(rest, "datum of 1954") {
		t.Errorf("the request is not compacted: %s", tail(rest))
	}
	if hits := c.strandline("search", "--all", "--kind", "command", "datum of 1954").mustSucceed().stdout; strings.Contains(hits, "echo third") {
		t.Errorf("the restored context is searched as the output of a tool: %s", hits)
	}
	c.exported()
}

// awaitText waits until a transcript holds a text, or ctx ends.
func (c *copilot) awaitText(ctx context.Context, part string) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, path := range c.transcripts() {
			if strings.Contains(c.read(path), part) {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// TestCopilotRecalls names something of another session at a prompt, and searches for it with
// the server's tool.
func TestCopilotRecalls(t *testing.T) {
	t.Parallel()
	c := newCopilot(t)
	const need = "Is the datum in gauge.txt right?"
	c.api.OnPart(need, mockapi.Use(mockapi.Tool{Name: "strandline-search", Input: map[string]any{"query": "datum of 1954"}}), mockapi.Say("It is."))
	c.scriptWork()
	c.ask("Find the fault.")
	handle := archive.ShortID(filepath.Base(filepath.Dir(c.transcripts()[0]))) + "/0.1"
	c.awaitProcesses()

	sent := c.ask(need)

	if blocks, _ := records(sent[0].Text()); len(blocks) != 2 || !strings.Contains(blocks[0]+blocks[1], handle+" (edit") {
		t.Errorf("recalled: %q", blocks)
	}
	if len(sent) != 2 {
		t.Fatalf("%d requests", len(sent))
	}
	if found := results(sent[1]); !strings.Contains(found, handle) {
		t.Errorf("the tool's result: %s", found)
	}
	c.exported()
}

// TestCopilotIsNotDisturbed breaks the program: no tool is denied, and Copilot goes on.
func TestCopilotIsNotDisturbed(t *testing.T) {
	t.Parallel()
	c := newCopilot(t)
	c.scriptWork()
	if err := os.Remove(c.program); err != nil {
		t.Fatal(err)
	}
	c.write(c.program, "#!/bin/sh\necho 'not JSON'\nexit 2\n")
	if err := os.Chmod(c.program, 0o755); err != nil {
		t.Fatal(err)
	}

	sent := c.ask("Find the fault.")

	if len(sent) != 3 || !strings.Contains(results(sent[1]), "gauge-offset-missing") || !exists(filepath.Join(c.project, "gauge.txt")) {
		t.Errorf("%d requests, the second one ends %s", len(sent), tail(sent[len(sent)-1].Text()))
	}
}

// TestCopilotResumesARestoredSession: the client continues a session of which it lost
// everything.
func TestCopilotResumesARestoredSession(t *testing.T) {
	t.Parallel()
	c := newCopilot(t)
	c.scriptWork()
	c.api.OnPart("Go on.", mockapi.Say("Gone on."))
	c.ask("Find the fault.")
	c.exported()
	path := c.transcripts()[0]
	before, id := c.read(path), filepath.Base(filepath.Dir(path))
	if err := os.RemoveAll(filepath.Join(c.config, "session-state")); err != nil {
		t.Fatal(err)
	}

	c.strandline("rebuild", id).mustSucceed()

	if got := c.read(path); got != before {
		t.Errorf("rebuild: %s", firstDifference(got, before))
	}
	if sent := c.ask("Go on.", "--resume="+id)[0].Text(); !strings.Contains(sent, "datum of 1954") {
		t.Errorf("the resumed session begins with %s", tail(sent))
	}
	c.exported()
}
