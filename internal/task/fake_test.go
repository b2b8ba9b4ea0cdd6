package task_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/task"
)

const session = "7f3a12cd-0000-4000-8000-000000000001"

// noon is the start of every session; a step takes a minute.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// memory is a store of one session that a test writes step by step. A step has two
// lines, a prompt one.
type memory struct {
	session     archive.Session
	agents      []archive.Session
	turns       []archive.Turn
	steps       []archive.Step
	calls       []archive.Call
	passages    []archive.Passage
	tasks       []archive.TaskEvent
	compactions []archive.Compaction
	facts       []archive.JournalEntry
	line        int
	context     int64
	fail        error
}

func newMemory() *memory {
	return &memory{session: archive.Session{ID: session, Client: "claude", Model: "claude-opus-4-6", Cwd: "/w"}, context: 10_000}
}

func (m *memory) now() time.Time { return noon().Add(time.Duration(len(m.steps)) * time.Minute) }

// prompt starts a turn.
func (m *memory) prompt(text string) *memory {
	m.turns = append(m.turns, archive.Turn{Session: session, Index: len(m.turns), Title: text, LineFrom: m.line, LineTo: m.line + 1, Start: m.now()})
	m.passages = append(m.passages, archive.Passage{
		Session: session, Turn: len(m.turns) - 1, Step: -1, Kind: archive.KindPrompt, Text: text, LineFrom: m.line, LineTo: m.line + 1, Time: m.now(),
	})
	m.line++
	return m
}

// act adds a row to a step.
type act func(m *memory, s *archive.Step)

// step adds a response of the model.
func (m *memory) step(acts ...act) *memory {
	if len(m.turns) == 0 {
		m.prompt("go on")
	}
	t := &m.turns[len(m.turns)-1]
	m.context += 1000
	s := archive.Step{
		Session: session, Turn: t.Index, Index: t.Steps, MessageID: fmt.Sprint("m", len(m.steps)), Model: m.session.Model, Time: m.now(),
		LineFrom: m.line, LineTo: m.line + 2, Usage: archive.Usage{CacheRead: m.context, Output: 100},
	}
	for _, a := range acts {
		a(m, &s)
	}
	m.steps = append(m.steps, s)
	m.line += 2
	t.Steps++
	t.LineTo = m.line
	m.session.Turns, m.session.Steps, m.session.Lines = len(m.turns), len(m.steps), m.line
	return m
}

// idle adds n empty steps.
func (m *memory) idle(n int) *memory {
	for range n {
		m.step(say("Looking on."))
	}
	return m
}

func (m *memory) passage(s *archive.Step, p archive.Passage) {
	seq := 0
	for _, x := range m.passages {
		if x.Turn == s.Turn && x.Step == s.Index {
			seq++
		}
	}
	p.Session, p.Turn, p.Step, p.Seq, p.LineFrom, p.LineTo, p.Time = session, s.Turn, s.Index, seq, s.LineFrom, s.LineTo, s.Time
	m.passages = append(m.passages, p)
}

func (m *memory) call(s *archive.Step, c archive.Call) {
	c.Session, c.Turn, c.Step = session, s.Turn, s.Index
	for _, x := range m.calls {
		if x.Turn == s.Turn && x.Step == s.Index {
			c.Seq++
		}
	}
	c.ToolID, c.LineUse, c.LineResult = fmt.Sprintf("t%d.%d", len(m.steps), c.Seq), s.LineFrom, s.LineFrom+1
	m.calls = append(m.calls, c)
}

func say(text string) act {
	return func(m *memory, s *archive.Step) { m.passage(s, archive.Passage{Kind: archive.KindReply, Text: text}) }
}

func run(command string, failure string) act {
	return func(m *memory, s *archive.Step) {
		exit := 0
		if failure != "" {
			exit = 1
		}
		m.call(s, archive.Call{Name: "Bash", Kind: archive.CallCommand, Command: command, Exit: &exit, Failed: failure != "", Error: failure})
		m.passage(s, archive.Passage{Kind: archive.KindCommand, Label: "Bash", Text: "$ " + command + "\n" + failure})
	}
}

func edit(path string) act {
	return func(m *memory, s *archive.Step) {
		m.call(s, archive.Call{Name: "Edit", Kind: archive.CallEdit, Files: []string{path}})
		m.passage(s, archive.Passage{Kind: archive.KindEdit, Label: "Edit", Text: path + "\n-old\n+new", Paths: []string{path}})
	}
}

// event changes a task; empty parts change nothing.
func event(id, status, subject string) act {
	return func(m *memory, s *archive.Step) {
		m.tasks = append(m.tasks, archive.TaskEvent{
			Session: session, Line: s.LineFrom, Seq: len(m.tasks), TaskID: id, Status: status, Subject: subject, Time: s.Time, Turn: s.Turn, Step: s.Index,
		})
	}
}

// agent runs a sub-agent, in the background if there is no answer.
func agent(kind, description, answer string) act {
	return func(m *memory, s *archive.Step) {
		m.call(s, archive.Call{Name: "Agent", Kind: archive.CallAgent})
		if answer == "" {
			answer = "[in background] agentId: bg1"
		}
		m.passage(s, archive.Passage{Kind: archive.KindOutput, Label: "Agent", Text: "Agent " + kind + " · " + description + " · Do it.\n" + answer})
	}
}

// labelled adds a passage of any kind.
func labelled(label, text string) act {
	return func(m *memory, s *archive.Step) {
		m.passage(s, archive.Passage{Kind: archive.KindOutput, Label: label, Text: text})
	}
}

// fact adds an entry to the journal.
func (m *memory) fact(kind archive.JournalKind, at time.Time, data any) *memory {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err) // an error of the test itself
	}
	m.facts = append(m.facts, archive.JournalEntry{
		Version: 1, ID: fmt.Sprintf("e%04d", len(m.facts)), Time: at, Kind: kind, Session: session, Data: raw,
	})
	return m
}

func before[T any](sp archive.Span, rows []T, line func(T) int) []T {
	out := slices.Clone(rows)
	if sp.BeforeLine > 0 {
		out = slices.DeleteFunc(out, func(r T) bool { return line(r) >= sp.BeforeLine })
	}
	return out
}

func (m *memory) Session(context.Context, string) (archive.Session, error) { return m.session, m.fail }
func (m *memory) Sessions(context.Context, archive.SessionFilter) ([]archive.Session, error) {
	return m.agents, m.fail
}

func (m *memory) Turns(_ context.Context, sp archive.Span) ([]archive.Turn, error) {
	return before(sp, m.turns, func(t archive.Turn) int { return t.LineFrom }), m.fail
}

func (m *memory) Steps(_ context.Context, sp archive.Span) ([]archive.Step, error) {
	return before(sp, m.steps, func(s archive.Step) int { return s.LineFrom }), m.fail
}

func (m *memory) Calls(_ context.Context, sp archive.CallSpan) ([]archive.Call, error) {
	calls := before(sp.Span, m.calls, func(c archive.Call) int { return c.LineUse })
	for i := range calls { // like the store, without the outcome if that comes later
		if c := &calls[i]; sp.BeforeLine > 0 && c.LineResult >= sp.BeforeLine {
			c.LineResult, c.Exit, c.Failed, c.Error, c.Duration = -1, nil, false, "", 0
		}
	}
	return calls, m.fail
}

func (m *memory) Passages(_ context.Context, sp archive.PassageSpan) ([]archive.Passage, error) {
	return before(sp.Span, m.passages, func(x archive.Passage) int { return x.LineFrom }), m.fail
}

func (m *memory) Tasks(_ context.Context, sp archive.Span) ([]archive.TaskEvent, error) {
	return before(sp, m.tasks, func(e archive.TaskEvent) int { return e.Line }), m.fail
}

func (m *memory) Compactions(_ context.Context, sp archive.Span) ([]archive.Compaction, error) {
	return before(sp, m.compactions, func(c archive.Compaction) int { return c.Line }), m.fail
}

func (m *memory) Facts(_ context.Context, _ string, kind archive.JournalKind) ([]archive.JournalEntry, error) {
	var out []archive.JournalEntry
	for _, e := range m.facts {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out, m.fail
}

// load reads the session as it is, or up to a line.
func (m *memory) load(t testing.TB, atLine int) *task.History {
	t.Helper()
	p, err := task.Load(t.Context(), m, session, atLine)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
