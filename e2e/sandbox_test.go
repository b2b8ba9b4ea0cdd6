package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"strandline/e2e/mockapi"
)

// patience bounds every wait; the usual duration is a fraction of it.
const patience = time.Minute

// flushPatience bounds the wait for the client's delayed writes.
const flushPatience = 2 * time.Second

// compactWindow is the smallest context window that the client accepts. It
// compacts when an answer reports compactAt tokens or more.
const (
	compactWindow = "100000"
	compactAt     = 70_000
)

// sandbox is a user's environment: a home, a project under git, the client and
// strandline.
type sandbox struct {
	t       *testing.T
	api     *mockapi.Server
	client  string
	program string // the installed strandline, "" before install
	home    string
	config  string // the client's folder
	project string
	store   string // STRANDLINE_HOME
	env     []string
	wrapper []string // the command that starts the client in print mode; empty for none
	// checked maps a transcript to the offset up to which hook errors were checked.
	checked map[string]int
	// processes counts the client's processes.
	processes atomic.Int64
}

// newSandbox returns an environment with the client and without strandline.
func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	root := t.TempDir()
	home := filepath.Join(root, "home")
	return newSandboxIn(t, root, home, filepath.Join(home, ".claude"), filepath.Join(home, ".local", "share", "strandline"))
}

// newSandboxIn is newSandbox with the given folders.
func newSandboxIn(t *testing.T, root, home, config, store string, env ...string) *sandbox {
	t.Helper()
	s := &sandbox{t: t, client: client(t), api: mockapi.Start(t), checked: map[string]int{}}
	s.home, s.config, s.store = home, config, store
	s.project = filepath.Join(root, "project")
	s.env = append(s.userEnv(),
		"ANTHROPIC_BASE_URL="+s.api.URL(),
		"ANTHROPIC_API_KEY="+fakeKey,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
		"CLAUDE_CODE_AUTO_COMPACT_WINDOW="+compactWindow,
		"STRANDLINE_HOOK_DEADLINE=1s", // the default; Claude Code cancels slow hooks at a session's end
	)
	s.env = append(s.env, env...)
	s.write(s.settingsFile(), userSettings)
	s.write(s.stateFile(), s.onboarded())
	s.begin()
	s.api.Before(s.awaitFlush)
	t.Cleanup(s.logHooks)
	return s
}

// userEnv is the environment of any client.
func (s *sandbox) userEnv() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + s.home,
		"TMPDIR=" + filepath.Join(filepath.Dir(s.project), "tmp"),
		"LANG=C.UTF-8",
		"TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org",
		"HTTPS_PROXY=" + s.api.URL(), // fails the test if it is used
		"NO_PROXY=127.0.0.1,localhost",
		// On a loaded machine a hook may exceed the default deadline, logs that, and leaves
		// its rows to a background process.
		"STRANDLINE_HOOK_DEADLINE=5s",
	}
}

// begin makes the folders of the user and of the project.
func (s *sandbox) begin() {
	s.t.Helper()
	s.write(filepath.Join(filepath.Dir(s.project), "tmp", ".keep"), "")
	s.write(filepath.Join(s.project, "README.md"), "# Tide tables\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "Begin"}} {
		s.run("git", args...).mustSucceed()
	}
}

// fakeKey is accepted without a dialog because the client's state says so.
const fakeKey = "sk-ant-e2e-not-a-key"

// userSettings are the user's original settings: permissions that avoid dialogs, a
// hook, and hand-written formatting.
const userSettings = `{
    "permissions": {
        "allow": ["Bash", "Read", "Write", "Edit", "Agent"] },

  "hooks": {"Stop": [ {"hooks": [{"type": "command", "command": "true"}]} ]},
  "cleanupPeriodDays":   3650
}
`

// onboarded is the state of a client whose first-run dialogs were answered.
func (s *sandbox) onboarded() string {
	state := map[string]any{
		"hasCompletedOnboarding": true,
		"theme":                  "dark",
		"customApiKeyResponses":  map[string]any{"approved": []string{fakeKey[len(fakeKey)-20:]}, "rejected": []string{}},
		"projects":               map[string]any{s.project: map[string]any{"hasTrustDialogAccepted": true}},
	}
	data, err := json.Marshal(state)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

func (s *sandbox) settingsFile() string { return filepath.Join(s.config, "settings.json") }

// stateFile is the client's state file.
func (s *sandbox) stateFile() string { return filepath.Join(s.home, ".claude.json") }

// projects is the client's folder of transcripts.
func (s *sandbox) projects() string { return filepath.Join(s.config, "projects") }

// install installs strandline and runs init without the compactor plugin: the client
// compacts and hooks help it.
func (s *sandbox) install() {
	s.t.Helper()
	s.installWith("--no-plugin")
}

// installPlugin is install with the compactor plugin, the default of init.
func (s *sandbox) installPlugin() {
	s.t.Helper()
	s.installWith()
}

func (s *sandbox) installWith(args ...string) {
	s.t.Helper()
	s.program = filepath.Join(filepath.Dir(s.project), "bin", programName)
	link(s.t, program(s.t), s.program)
	s.t.Cleanup(s.awaitProcesses)
	s.strandline(append([]string{"init"}, args...)...).mustSucceed()
}

// awaitProcesses waits for detached processes of strandline's hooks, so that none
// writes while the folders are removed. It returns at once where the system does not
// list processes.
func (s *sandbox) awaitProcesses() {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for s.running() {
		select {
		case <-tick.C:
		case <-deadline.C:
			s.t.Error("a process of strandline does not end")
			return
		}
	}
}

// running reports whether a process runs the installed program.
func (s *sandbox) running() bool {
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, link := range links {
		if exe, err := os.Readlink(link); err == nil && strings.HasPrefix(exe, s.program) {
			return true
		}
	}
	return false
}

// awaitFlush delays an answer until its tool results are in a transcript. The client
// writes about 0.1 s late; a real model takes longer than that, and a hook may read the
// transcript meanwhile.
func (s *sandbox) awaitFlush(ctx context.Context, req *mockapi.Request) {
	ctx, cancel := context.WithTimeout(ctx, flushPatience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for _, id := range req.ToolResults() {
		for !s.transcribed(`"tool_use_id":"` + id + `"`) {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}

// transcribed reports whether any transcript holds the text.
func (s *sandbox) transcribed(text string) bool {
	for _, path := range s.clientFiles() {
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte(text)) {
			return true
		}
	}
	return false
}

// write makes a file with its folders.
func (s *sandbox) write(path, content string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sandbox) read(path string) string {
	s.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// link makes target a second path of the program source.
func link(t *testing.T, source, target string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(source, target); err == nil {
		return
	}
	data, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(target, data, 0o755); err != nil {
		t.Fatal(err)
	}
}

// outcome is the result of a process.
type outcome struct {
	t      *testing.T
	args   []string
	stdout string
	stderr string
	err    error
}

// run runs a program in the project folder.
func (s *sandbox) run(name string, args ...string) outcome {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := s.command(ctx, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	return outcome{t: s.t, args: append([]string{filepath.Base(name)}, args...), stdout: stdout.String(), stderr: stderr.String(), err: err}
}

// runWithPrompts is run for a client that reads prompts as JSON lines: the next one is
// written when stdout has reported the result of the previous one.
func (s *sandbox) runWithPrompts(prompts []string, name string, args ...string) outcome {
	s.t.Helper()
	var lines []string
	for _, p := range prompts {
		line, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": p}})
		if err != nil {
			s.t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	return s.converseLines(lines, func(line []byte) bool { return bytes.Contains(line, []byte(`"type":"result"`)) }, name, args...)
}

// converseLines runs a program that reads lines: the next one is written when a line of
// stdout says that the previous one is done, and stdin ends after the last.
func (s *sandbox) converseLines(lines []string, done func(line []byte) bool, name string, args ...string) outcome {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := s.command(ctx, name, args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	next := func() {
		if len(lines) == 0 {
			_ = stdin.Close() // ends the client
			return
		}
		_, _ = stdin.Write([]byte(lines[0] + "\n")) // an ended client is reported by Wait
		lines = lines[1:]
	}
	var stdout, stderr bytes.Buffer
	cmd.Stderr = &stderr
	read := 0 // offset of the first incomplete line
	cmd.Stdout = writerFunc(func(p []byte) (int, error) {
		stdout.Write(p)
		for line := range bytes.Lines(stdout.Bytes()[read:]) {
			if !bytes.HasSuffix(line, []byte("\n")) {
				break
			}
			read += len(line)
			if done(line) {
				next()
			}
		}
		return len(p), nil
	})
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	next()
	err = cmd.Wait()
	return outcome{t: s.t, args: append([]string{filepath.Base(name)}, args...), stdout: stdout.String(), stderr: stderr.String(), err: err}
}

// writerFunc is an io.Writer.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// command is a program in the project folder; it is killed when ctx ends.
func (s *sandbox) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = s.project, s.env
	cmd.WaitDelay = patience // other processes may hold the pipes after the end
	return cmd
}

// strandline runs the installed program.
func (s *sandbox) strandline(args ...string) outcome {
	s.t.Helper()
	return s.run(s.program, args...)
}

func (o outcome) mustSucceed() outcome {
	o.t.Helper()
	if o.err != nil {
		o.t.Fatalf("%s: %v\n%s%s", strings.Join(o.args, " "), o.err, o.stdout, o.stderr)
	}
	return o
}

// mustFail fails the test if the process succeeded.
func (o outcome) mustFail() outcome {
	o.t.Helper()
	if o.err == nil {
		o.t.Fatalf("%s: succeeded\n%s%s", strings.Join(o.args, " "), o.stdout, o.stderr)
	}
	return o
}
