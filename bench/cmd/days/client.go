package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"strandline/bench/synth"
)

// session is a session of a client.
type session struct {
	id, file  string
	want      []byte            // its file as it was written
	beside    map[string][]byte // the files in its folder
	secret    string            // a word that no other session has
	age       int               // in days
	ended     bool
	forgotten bool
	doubtful  bool // a deletion was killed: it is whole or forgotten
}

// folder is the folder of the session's other files.
func (s *session) folder() string { return strings.TrimSuffix(s.file, ".jsonl") }

// client works through a day's sessions.
func (w *world) client(ctx context.Context, day int, chance *rand.Rand) {
	for range w.sessions {
		if ctx.Err() != nil {
			return
		}
		w.session(ctx, day, chance)
	}
}

// session simulates one session from its start to its end.
func (w *world) session(ctx context.Context, day int, chance *rand.Rand) {
	var rows bytes.Buffer
	project := fmt.Sprintf("/home/dev/project%d", chance.IntN(4))
	talk := synth.New(&rows, synth.Options{
		Cwd: project, Branch: "main", Version: "2.1.0", Model: "claude-opus-5-5", Seed: chance.Uint64(), Context: 12000,
		Start: time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC).AddDate(0, 0, day),
	})
	s := &session{id: talk.ID(), beside: map[string][]byte{}, secret: fmt.Sprintf("zephyr%08x", chance.Uint32())}
	s.file = filepath.Join(w.path("home/.claude/projects"), strings.ReplaceAll(project, "/", "-"), s.id+".jsonl")
	w.mu.Lock()
	w.all = append(w.all, s)
	w.mu.Unlock()
	flush := func() { w.append(s, &rows) }
	hook := func(event string, more ...string) { w.hook(ctx, chance, s, event, more...) }
	hook("SessionStart", "source=startup")
	talk.Begin()
	for turn := range 2 + chance.IntN(8) {
		prompt := fmt.Sprintf("Look at the lamp %d of %s, it flickers since the release of %s", turn, s.secret, project)
		hook("UserPromptSubmit", "prompt="+prompt)
		talk.Prompt(prompt)
		flush()
		for step := range 1 + chance.IntN(6) {
			call := talk.Use("Bash", synth.Row{}.Str("command", fmt.Sprintf("go test ./lamp%d -run Test%d", turn, step)))
			talk.Respond()
			talk.Answer(call, strings.Repeat(fmt.Sprintf("lamp_test.go:%d: flickers\n", step), chance.IntN(60)), step%2 == 0, nil)
			flush()
			hook("PostToolUse", "tool_name=Bash")
		}
		if chance.IntN(4) == 0 {
			w.agent(talk, s, chance)
			hook("SubagentStop", "agent_id=a1", "last_assistant_message=done")
		}
		if chance.IntN(5) == 0 {
			hook("PreCompact", "trigger=auto")
			talk.Compact("auto", 160_000, 9_000, "The user mends lamps of "+project)
			flush()
			hook("SessionStart", "source=compact")
		}
		talk.Say(fmt.Sprintf("The lamp %d burns because I trimmed the wick of %s.", turn, s.secret))
		talk.Respond()
		talk.EndTurn()
		talk.Wait(time.Minute)
		flush()
		hook("Stop")
	}
	if chance.IntN(8) > 0 { // else the client is killed
		hook("SessionEnd", "reason=other")
	}
	w.mu.Lock()
	s.ended = true
	w.mu.Unlock()
}

// append writes rows to the client's file.
func (w *world) append(s *session, rows *bytes.Buffer) {
	err := os.MkdirAll(filepath.Dir(s.file), 0o700)
	f, oerr := os.OpenFile(s.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err = errors.Join(err, oerr); err == nil {
		_, err = f.Write(rows.Bytes())
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		w.fault("write %s: %v", s.file, err)
	}
	s.want = append(s.want, rows.Bytes()...)
	rows.Reset()
}

// agent writes the run of a sub-agent and a large tool result.
func (w *world) agent(talk *synth.Session, s *session, chance *rand.Rand) {
	var rows bytes.Buffer
	run := talk.Spawn(&rows, fmt.Sprintf("a%08x", chance.Uint32()))
	run.Prompt("Count the lamps of " + s.secret)
	run.Say("There are seven lamps.")
	run.Respond()
	talk.Join(run)
	for name, data := range map[string][]byte{
		fmt.Sprintf("subagents/agent-a%08x.jsonl", chance.Uint32()): rows.Bytes(),
		fmt.Sprintf("tool-results/toolu_%08x.txt", chance.Uint32()): bytes.Repeat([]byte("lamp\n"), 5000),
	} {
		s.beside[name] = data
		path := filepath.Join(s.folder(), filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
			w.fault("write %s: %v", path, err)
		}
	}
}
