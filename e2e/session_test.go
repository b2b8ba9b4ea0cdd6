package e2e

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"strandline/e2e/mockapi"
)

// planted returns a client with Strandline and a session whose first prompt contains
// the facts that later parts of the test look for.
func planted(t *testing.T, install func(*sandbox)) (s *sandbox, id string) {
	t.Helper()
	s = newSandbox(t)
	install(s)
	id = newSession(t)
	s.scriptStory()
	s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()
	return s, id
}

// newSession returns a new session id.
func newSession(t *testing.T) string {
	t.Helper()
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		t.Fatal(err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// event is a line of the client's output in print mode.
type event struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`

	// Of a hook.
	HookName string `json:"hook_name"`
	Outcome  string `json:"outcome"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	ExitCode int    `json:"exit_code"`

	// Of the result.
	IsError bool   `json:"is_error"`
	Result  string `json:"result"`

	// Of a compaction.
	CompactMetadata struct {
		Trigger string `json:"trigger"`
	} `json:"compact_metadata"`
}

// turn is the record of one client process in print mode.
type turn struct {
	outcome
	s      *sandbox
	events []event
	debug  string // path of the client's debug log
	// requests are the client's requests during the turn.
	requests []*mockapi.Request
}

// start begins a new session with a prompt, in a process that ends with the turn.
func (s *sandbox) start(session, prompt string, args ...string) *turn {
	s.t.Helper()
	return s.print(append([]string{"--session-id", session, prompt}, args...)...)
}

// resume continues a session in a process that ends with the turn.
func (s *sandbox) resume(session, prompt string, args ...string) *turn {
	s.t.Helper()
	return s.print(append([]string{"--resume", session, prompt}, args...)...)
}

// converse continues a session with several prompts in one process. Each prompt is
// sent when the client has reported the result of the previous one.
func (s *sandbox) converse(session string, prompts ...string) *turn {
	s.t.Helper()
	return s.runClient(prompts, "--input-format", "stream-json", "--resume", session)
}

// print runs the client in print mode.
func (s *sandbox) print(args ...string) *turn {
	s.t.Helper()
	return s.runClient(nil, args...)
}

// runClient runs one process of the client; prompts are written to its stdin.
func (s *sandbox) runClient(prompts []string, args ...string) *turn {
	s.t.Helper()
	before := len(s.api.Requests())
	tn := &turn{s: s, debug: s.debugFile()}
	all := []string{"--print", "--output-format", "stream-json", "--verbose", "--include-hook-events", "--debug-file", tn.debug}
	line := append(append(append([]string{}, s.wrapper...), s.client), append(all, args...)...)
	if prompts == nil {
		tn.outcome = s.run(line[0], line[1:]...)
	} else {
		tn.outcome = s.runWithPrompts(prompts, line[0], line[1:]...)
	}
	tn.requests = s.api.Requests()[before:]
	lines := bufio.NewScanner(strings.NewReader(tn.stdout))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var ev event
		if err := json.Unmarshal(lines.Bytes(), &ev); err != nil {
			s.t.Errorf("the client printed %q: %v", lines.Text(), err)
			continue
		}
		tn.events = append(tn.events, ev)
	}
	return tn
}

// session is the id of the session that the turn was made in.
func (tn *turn) session() string {
	tn.t.Helper()
	for _, ev := range tn.events {
		if ev.SessionID != "" {
			return ev.SessionID
		}
	}
	tn.t.Fatalf("%s: no session\n%s", tn.args, tn.stdout)
	return ""
}

// mustSucceed fails the test if the client ended with an error. A turn that only
// compacts has no result.
func (tn *turn) mustSucceed() *turn {
	tn.t.Helper()
	tn.outcome.mustSucceed()
	return tn
}

// mustAnswer fails the test unless the turn succeeded, with this result if it is
// not empty.
func (tn *turn) mustAnswer(result string) *turn {
	tn.t.Helper()
	tn.mustSucceed()
	for _, ev := range tn.events {
		if ev.Type != "result" {
			continue
		}
		if ev.IsError || (result != "" && ev.Result != result) {
			tn.t.Errorf("%s: result %q (error: %t), want %q", tn.args, ev.Result, ev.IsError, result)
		}
		return tn
	}
	tn.t.Errorf("%s: no result\n%s", tn.args, tn.stdout)
	return tn
}

// undisturbed fails the test if the client reports anything about its hooks.
func (tn *turn) undisturbed() *turn {
	tn.t.Helper()
	if tn.stderr != "" {
		tn.t.Errorf("%s: stderr: %s", tn.args, tn.stderr)
	}
	for _, ev := range tn.events {
		if ev.Subtype != "hook_response" {
			continue
		}
		if (strings.HasPrefix(ev.HookName, "PostToolUse") || ev.HookName == "Stop") && ev.Outcome == "cancelled" {
			continue // asynchronous: the client ended first
		}
		if ev.Outcome != "success" || ev.ExitCode != 0 || ev.Stderr != "" {
			tn.t.Errorf("hook %s: outcome %s, exit code %d, stderr %q", ev.HookName, ev.Outcome, ev.ExitCode, ev.Stderr)
		}
	}
	tn.s.checkHooks(tn.debug)
	tn.s.checkHookRows()
	return tn
}

// hooksFailed counts the hook errors that the client reports for the turn.
func (tn *turn) hooksFailed() int {
	n := 0
	for _, ev := range tn.events {
		if ev.Subtype == "hook_response" && ev.Outcome != "success" {
			n++
		}
	}
	return n
}

// compactions returns the triggers of the compactions in the turn.
func (tn *turn) compactions() []string {
	var triggers []string
	for _, ev := range tn.events {
		if ev.Subtype == "compact_boundary" {
			triggers = append(triggers, ev.CompactMetadata.Trigger)
		}
	}
	return triggers
}

// request returns the n-th request of the turn of that kind, from 0.
func (tn *turn) request(kind mockapi.Kind, n int) *mockapi.Request {
	tn.t.Helper()
	for _, req := range tn.requests {
		if req.Kind == kind {
			if n == 0 {
				return req
			}
			n--
		}
	}
	tn.t.Fatalf("%s: too few requests of kind %s among %d", tn.args, kind, len(tn.requests))
	return nil
}
