package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"strandline/e2e/mockapi"
	"strandline/internal/archive"
	"strandline/internal/text"
)

// Tests with Pi and the extension that strandline gives it.

// pi is the user's environment with Pi instead of Claude Code.
type pi struct {
	*sandbox
	command []string
}

// piFull is a number of tokens above which Pi compacts before its next request.
const piFull = 90_000

// newPi returns an environment with Pi and strandline.
func newPi(t *testing.T) *pi {
	t.Helper()
	root := t.TempDir()
	home := filepath.Join(root, "home")
	client := npmClient(t, "pi", "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js")
	s := &sandbox{
		t: t, client: client, api: mockapi.Start(t), checked: map[string]int{}, home: home,
		config: filepath.Join(home, ".pi", "agent"), store: filepath.Join(home, ".local", "share", "strandline"), project: filepath.Join(root, "project"),
	}
	s.env = append(s.userEnv(), "PI_OFFLINE=1")
	s.write(filepath.Join(s.config, "models.json"), `{"providers": {"mock": {"baseUrl": "`+s.api.URL()+`", "api": "anthropic-messages", "apiKey": "`+fakeKey+`",
  "models": [{"id": "claude-mock", "contextWindow": 100000, "maxTokens": 8192}]}}}`)
	s.write(s.settingsFile(), `{"defaultProvider": "mock", "defaultModel": "claude-mock", "compaction": {"keepRecentTokens": 20}}`)
	s.begin()
	p := &pi{sandbox: s, command: []string{"node", client}}
	if own := filepath.Join(client, "..", "..", "..", "..", "..", "node"); exists(own) {
		p.command[0] = own
	}
	p.connect()
	return p
}

// connect installs strandline with Pi as the client.
func (p *pi) connect() {
	p.t.Helper()
	p.installWith("--client", "pi")
}

// ask runs one turn in a process of its own and returns its requests.
func (p *pi) ask(args ...string) []*mockapi.Request {
	p.t.Helper()
	before := len(p.api.Requests())
	p.run(p.command[0], append(append(p.command[1:], "--print"), args...)...).mustSucceed()
	return p.api.Requests()[before:]
}

// transcripts are the client's, oldest first.
func (p *pi) transcripts() []string {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(p.config, "sessions", "*", "*.jsonl"))
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

// session is the id of the newest session.
func (p *pi) session() string {
	p.t.Helper()
	all := p.transcripts()
	_, id, _ := strings.Cut(strings.TrimSuffix(filepath.Base(all[len(all)-1]), ".jsonl"), "_")
	return id
}

// exported fails the test unless the archive has every transcript byte for byte.
func (p *pi) exported() {
	p.t.Helper()
	p.awaitProcesses()
	for _, path := range p.transcripts() {
		_, id, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".jsonl"), "_")
		if got, want := p.strandline("export", id).mustSucceed().stdout, p.read(path); got != want {
			p.t.Errorf("export %s: %s", id, firstDifference(got, want))
		}
	}
	p.checkLog()
}

// piBash calls Pi's shell tool.
func piBash(command string) mockapi.Tool {
	return mockapi.Tool{Name: "bash", Input: map[string]any{"command": command}}
}

// piWrite calls Pi's file writing tool.
func piWrite(path, content string) mockapi.Tool {
	return mockapi.Tool{Name: "write", Input: map[string]any{"path": path, "content": content}}
}

// Prompts of the tests.
const (
	piFault = "Find the fault."
	piRead  = "Read the table."
)

// scriptWork adds prompts: piFault has a failing command, a new file and a decision, piRead
// more text than a compaction keeps.
func (p *pi) scriptWork() {
	p.api.On(piFault,
		mockapi.Use(piBash("echo gauge-offset-missing; exit 3")), mockapi.Use(piWrite("gauge.txt", "datum 54177\n")),
		mockapi.Say("The offset was missing. I decided to keep the datum of 1954 because the old tables use it."))
	p.api.On(piRead, mockapi.Use(piBash("seq 10000 12500")), mockapi.Say("It is read.").At(piFull))
	p.api.On("Go on.", mockapi.Say("Gone on."))
}

// checkReplaced checks the request after a compaction of scriptWork's turns.
func (p *pi) checkReplaced(req *mockapi.Request) {
	p.t.Helper()
	checkPairs(p.t, req)
	all := ours(req)
	if len(all) != 1 {
		p.t.Fatalf("%d records in %s", len(all), tail(req.Text()))
	}
	_, rest := records(req.Text())
	for _, want := range []string{"echo gauge-offset-missing", "exit 3", "gauge.txt", "datum 54177", "datum of 1954", piFault} {
		if !strings.Contains(all[0], want) {
			p.t.Errorf("%q is not in the record:\n%s", want, all[0])
		}
	}
	if strings.Contains(rest, "gauge-offset") || strings.Contains(rest, "11000") {
		p.t.Errorf("the request is not compacted: %s", tail(rest))
	}
}

// TestPiCompacts crosses compactions in three places without a request to the model.
func TestPiCompacts(t *testing.T) {
	t.Parallel()
	read := mockapi.Use(piBash("seq 10000 12500"))
	for name, script := range map[string]func(p *pi){
		"after a turn": func(p *pi) {},
		"in a tool loop": func(p *pi) {
			p.api.On(piRead, read, mockapi.Say("It is read."))
			p.api.On("Go on.", mockapi.Use(piBash("echo first")).At(piFull), mockapi.Use(piBash("echo second")), mockapi.Say("Gone on."))
		},
		"when the API refuses": func(p *pi) {
			p.api.On(piRead, read, mockapi.Say("It is read."))
			p.api.On("Go on.", mockapi.TooLong(), mockapi.Say("Gone on."))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPi(t)
			p.scriptWork()
			script(p)

			sent := p.rpc(prompt(piFault), prompt(piRead), prompt("Go on."))

			p.uncompacted()
			last := sent[len(sent)-1]
			p.checkReplaced(last)
			if !strings.Contains(last.Text(), "Go on.") {
				t.Errorf("the last request ends: %s", tail(last.Text()))
			}
			if rows := p.listed(); len(rows) != 1 || !rows[0].Ours || rows[0].Pre < 3000 {
				t.Errorf("compactions are listed as %+v", rows)
			}
			p.exported()
		})
	}
}

// TestPiCompactsByHand compacts twice with instructions, and keeps one record.
func TestPiCompactsByHand(t *testing.T) {
	t.Parallel()
	p := newPi(t)
	p.scriptWork()
	p.api.On(piRead, mockapi.Use(piBash("seq 10000 12500")), mockapi.Say("It is read."))

	p.rpc(prompt(piFault), `{"type":"compact","customInstructions":"mind the tides"}`,
		prompt(piRead), `{"type":"compact","customInstructions":"mind the moon"}`)
	next := p.ask("--continue", "Go on.")

	p.uncompacted()
	p.checkReplaced(next[0])
	if record := ours(next[0])[0]; !strings.Contains(record, "mind the moon") || strings.Contains(record, "mind the tides") {
		t.Errorf("the instructions in the record:\n%s", record)
	}
	if rows := p.listed(); len(rows) != 2 || !rows[0].Ours || !rows[1].Ours {
		t.Errorf("compactions are listed as %+v", rows)
	}
	p.exported()
}

// replace puts a shell script in the place of the program and returns the program's new path.
func (p *pi) replace(script string) (whole string) {
	p.t.Helper()
	p.awaitProcesses()
	whole = p.program + "-whole"
	if err := os.Rename(p.program, whole); err != nil {
		p.t.Fatal(err)
	}
	p.write(p.program, "#!/bin/sh\n"+script)
	if err := os.Chmod(p.program, 0o755); err != nil {
		p.t.Fatal(err)
	}
	return whole
}

// TestPiFallsThrough breaks the program in every way that the extension must survive: it
// fails, prints nothing, prints something else, does not read, and is deleted. Pi compacts itself.
func TestPiFallsThrough(t *testing.T) {
	t.Parallel()
	p := newPi(t)
	p.scriptWork()
	p.replace(`[ "$1" = compact ] || exit 3
echo . >>"$0.calls"
case $(wc -l <"$0.calls" | tr -d " ") in
1) cat >/dev/null; exit 3 ;;
2) cat >/dev/null ;;
3) cat >/dev/null; echo '{"summary":7}' ;;
4) rm "$0" ;;
esac
`)

	sent := p.rpc(prompt(piFault), prompt(piRead), prompt(piRead), prompt(piRead), prompt(piRead), prompt(piRead))

	compactions := 0
	for i, req := range sent {
		if req.Kind == mockapi.Compaction && (i == 0 || sent[i-1].Kind == mockapi.Turn) {
			compactions++
		}
	}
	if compactions != 5 || exists(p.program) {
		t.Errorf("%d compactions of Pi, want 5", compactions)
	}
}

// TestPiRestores lets Pi compact itself in a tool loop: what its summary omits is in the next
// request.
func TestPiRestores(t *testing.T) {
	t.Parallel()
	p := newPi(t)
	p.scriptWork()
	whole := p.replace(`[ "$1" = compact ] && exit 3
exec "$0-whole" "$@"
`)
	p.api.On(piRead, mockapi.Use(piBash("seq 10000 12500")).At(piFull), mockapi.Say("It is read."))

	sent := p.rpc(prompt(piFault), prompt(piRead))

	if n := len(sent); n < 3 || sent[n-2].Kind != mockapi.Compaction {
		t.Fatalf("%d requests without a compaction", n)
	}
	blocks, _ := records(sent[len(sent)-1].Text())
	if len(blocks) != 1 || text.HasReplacement(blocks[0]) || !strings.Contains(blocks[0], "datum of 1954") || !strings.Contains(blocks[0], "gauge.txt") {
		t.Errorf("the restored context is %q", blocks)
	}
	p.program = whole
	p.exported()
}

// TestPiRecalls names something of another session at a prompt, and searches for it with the
// server's tool.
func TestPiRecalls(t *testing.T) {
	t.Parallel()
	p := newPi(t)
	const need = "Is the datum in gauge.txt right?"
	p.scriptWork()
	p.api.On(need,
		mockapi.Use(mockapi.Tool{Name: "mcp__strandline__search", Input: map[string]any{"query": "datum of 1954"}}), mockapi.Say("It is."))
	p.ask(piFault)
	handle := archive.ShortID(p.session()) + "/0.1"
	p.awaitProcesses()

	sent := p.ask(need)

	if blocks, _ := records(sent[0].Text()); !strings.Contains(strings.Join(blocks, "\n"), "["+handle+"]") && !strings.Contains(strings.Join(blocks, "\n"), handle+" (edit") {
		t.Errorf("recalled: %q", blocks)
	}
	if found := results(sent[1]); !strings.Contains(found, handle) {
		t.Errorf("the tool's result: %s", found)
	}
	p.exported()
}

// TestPiResumesARestoredSession: the client continues a session of which it lost everything.
func TestPiResumesARestoredSession(t *testing.T) {
	t.Parallel()
	p := newPi(t)
	p.scriptWork()
	p.ask(piFault)
	p.exported()
	path, id := p.transcripts()[0], p.session()
	before := p.read(path)
	if err := os.RemoveAll(filepath.Join(p.config, "sessions")); err != nil {
		t.Fatal(err)
	}

	p.strandline("rebuild", id).mustSucceed()

	if got := p.read(path); got != before {
		t.Errorf("rebuild: %s", firstDifference(got, before))
	}
	if sent := p.ask("--session", id, "Go on.")[0].Text(); !strings.Contains(sent, "datum of 1954") {
		t.Errorf("the resumed session begins with %s", tail(sent))
	}
	p.exported()
}

// prompt is a command of rpc.
func prompt(text string) string { return `{"type":"prompt","message":"` + text + `"}` }

// rpc runs commands in one process, each when the previous one is done, and returns the
// requests.
func (p *pi) rpc(commands ...string) []*mockapi.Request {
	p.t.Helper()
	before := len(p.api.Requests())
	done := func(line []byte) bool {
		var event struct {
			Type    string `json:"type"`
			Command string `json:"command"`
		}
		return json.Unmarshal(line, &event) == nil && (event.Type == "agent_settled" || event.Type == "response" && event.Command == "compact")
	}
	p.converseLines(commands, done, p.command[0], append(p.command[1:], "--mode", "rpc")...).mustSucceed()
	return p.api.Requests()[before:]
}
