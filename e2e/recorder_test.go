package e2e

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The names under which the client's hooks call copies of the test binary.
const (
	recorderName = "recorder"
	programName  = "strandline"
)

// payload is the input of a hook.
type payload struct {
	Event   string `json:"hook_event_name"`
	Session string `json:"session_id"`
	Source  string `json:"source"`
	Trigger string `json:"trigger"`
	Agent   string `json:"agent_type"`
	AgentID string `json:"agent_id"`
	Reason  string `json:"reason"`
	Tool    string `json:"tool_name"`
	Summary string `json:"compact_summary"`
	Last    string `json:"last_assistant_message"`
}

// String returns the event and its source.
func (p payload) String() string {
	for _, detail := range []string{p.Source, p.Trigger, p.Agent, p.Reason, p.Tool} {
		if detail != "" {
			return p.Event + "/" + detail
		}
	}
	return p.Event
}

// recorderMain is a hook: it appends its input to a file next to it and prints the
// content of "<event>.out" or "<event>.<source>.out" in the same folder.
func recorderMain() int {
	self, err := os.Executable()
	if err != nil {
		return 3
	}
	folder := filepath.Dir(self)
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 4
	}
	log, err := os.OpenFile(filepath.Join(folder, "payloads.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 5
	}
	defer func() { _ = log.Close() }()
	if _, err := log.Write(append([]byte(strings.TrimSpace(string(input))), '\n')); err != nil {
		return 6
	}
	var p payload
	if err := json.Unmarshal(input, &p); err != nil {
		return 7
	}
	for _, name := range []string{p.Event + "." + p.Source + ".out", p.Event + ".out"} {
		if text, err := os.ReadFile(filepath.Join(folder, name)); err == nil {
			_, _ = os.Stdout.Write(text) // the client may have closed the pipe
			break
		}
	}
	return 0
}

// recorder is a hook program that records its input.
type recorder struct {
	s      *sandbox
	folder string
}

// newRecorder makes the program of a recorder.
func newRecorder(s *sandbox) *recorder {
	s.t.Helper()
	r := &recorder{s: s, folder: filepath.Join(filepath.Dir(s.project), "recorder")}
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	link(s.t, self, filepath.Join(r.folder, recorderName))
	return r
}

// record registers a recorder for every event of the list.
func (s *sandbox) record(events ...string) *recorder {
	s.t.Helper()
	r := newRecorder(s)
	var settings map[string]any
	if err := json.Unmarshal([]byte(userSettings), &settings); err != nil {
		s.t.Fatal(err)
	}
	hooks := map[string]any{}
	for _, event := range events {
		hooks[event] = []any{map[string]any{"hooks": []any{
			map[string]any{"type": "command", "command": filepath.Join(r.folder, recorderName), "timeout": 5},
		}}}
	}
	settings["hooks"] = hooks
	data, err := json.Marshal(settings)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(s.settingsFile(), string(data))
	return r
}

// say makes the recorder print text at an event ("PreCompact") or one kind of it
// ("SessionStart.compact").
func (r *recorder) say(event, text string) {
	r.s.t.Helper()
	r.s.write(filepath.Join(r.folder, event+".out"), text)
}

// payloads returns the recorded inputs.
func (r *recorder) payloads() []payload {
	r.s.t.Helper()
	var all []payload
	for line := range strings.Lines(r.s.read(filepath.Join(r.folder, "payloads.jsonl"))) {
		var p payload
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			r.s.t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// order returns the events as text, in the order of their arrival.
func (r *recorder) order() string {
	var names []string
	for _, p := range r.payloads() {
		names = append(names, p.String())
	}
	return strings.Join(names, " ")
}
