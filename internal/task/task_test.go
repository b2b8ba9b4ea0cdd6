package task_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/task"
)

// shape formats tasks for the tables below: ID, kind, state, the steps [start,end) and
// the subject.
func shape(tasks []task.Task) string {
	var lines []string
	for _, t := range tasks {
		s := fmt.Sprintf("%s %s %s [%d,%d) %s", t.ID, t.Kind, t.Status, t.Start, t.End, t.Subject)
		if t.Agent != "" {
			s += " <" + t.Agent + "> " + t.Result
		}
		lines = append(lines, strings.TrimSpace(s))
	}
	return strings.Join(lines, "\n")
}

func TestList(t *testing.T) {
	hook := func(m *memory, after int, f archive.TaskFact) {
		m.fact(archive.JournalTask, noon().Add(time.Duration(after)*time.Minute), f)
	}
	for _, c := range []struct {
		name  string
		write func(m *memory)
		want  string
	}{
		{"a task from its beginning to its end", func(m *memory) {
			m.step(event("1", "pending", "Write")).idle(2).step(event("1", "in_progress", "")).idle(3).step(event("1", "completed", ""))
		}, "1 task completed [3,8) Write"},
		{"never taken up, it begins where it was made", func(m *memory) {
			m.step(event("1", "pending", "Write")).idle(2).step(event("1", "completed", ""))
		}, "1 task completed [0,4) Write"},
		{"taken up twice, it begins the first time", func(m *memory) {
			m.step(event("1", "in_progress", "Write")).step(event("1", "in_progress", "Write more")).idle(1)
		}, "1 task in_progress [0,2) Write more"},
		{"completed and opened again", func(m *memory) {
			m.step(event("1", "completed", "Write")).step(event("1", "in_progress", ""))
		}, "1 task in_progress [0,2) Write"},
		{"an update before the creation", func(m *memory) {
			m.step(event("1", "in_progress", "")).step(event("1", "pending", "Write"))
		}, "1 task pending [0,2) Write"},
		{"an id that never resolves", func(m *memory) { m.step(event("99", "completed", "")) }, "99 task completed [0,1)"},
		{"two tasks of one subject are two", func(m *memory) {
			m.step(event("1", "completed", "Test"), event("2", "pending", "Test"))
		}, "1 task completed [0,1) Test\n2 task pending [0,1) Test"},
		{"a to-do that its list dropped", func(m *memory) {
			m.step(event("todo:ab", "pending", "Test")).step(event("todo:ab", "deleted", ""))
		}, "todo:ab todo deleted [0,2) Test"},
		{"known from a hook only", func(m *memory) {
			m.idle(4)
			hook(m, 1, archive.TaskFact{Event: "TaskCreated", TaskID: "1", Subject: "Write", Description: "the parser"})
			hook(m, 3, archive.TaskFact{Event: "TaskCompleted", TaskID: "1", Subject: "Write"})
		}, "1 task completed [1,4) Write"},
		{"a hook's end that a later update undid", func(m *memory) {
			m.idle(3).step(event("1", "in_progress", "Write"))
			hook(m, 1, archive.TaskFact{Event: "TaskCompleted", TaskID: "1"})
		}, "1 task in_progress [3,4) Write"},
		{"a hook without an id, or of another shape", func(m *memory) {
			m.idle(1)
			hook(m, 1, archive.TaskFact{Event: "TaskCreated", Subject: "x"})
			m.fact(archive.JournalTask, noon(), "no object")
		}, ""},
		{"a sub-agent's run", func(m *memory) {
			m.idle(1).step(agent("Explore", "Find the tests", "There are three."))
		}, "agent:t1.0 agent completed [1,2) Find the tests <Explore> There are three."},
		{"a run that failed", func(m *memory) {
			m.step(agent("Explore", "Find", "gone"))
			m.calls[0].Failed, m.calls[0].Error = true, "interrupted"
		}, "agent:t0.0 agent failed [0,1) Find <Explore> interrupted"},
		{"a run that has not answered yet", func(m *memory) {
			m.step(agent("Explore", "Find", "x"))
			m.calls[0].LineResult = -1
		}, "agent:t0.0 agent in_progress [0,1) Find <Explore>"},
		{"two runs of one step keep their order", func(m *memory) {
			m.step(agent("Explore", "Find", "first"), agent("Plan", "Draw", "second"))
		}, "agent:t0.0 agent completed [0,1) Find <Explore> first\nagent:t0.1 agent completed [0,1) Draw <Plan> second"},
		{"in the background", func(m *memory) { m.step(agent("Explore", "Find", "")).idle(2) }, "agent:t0.0 agent in_progress [0,1) Find <Explore>"},
		{"in the background, asked for too early and then in time", func(m *memory) {
			m.step(agent("Explore", "Find", "")).
				step(labelled("TaskOutput", "TaskOutput task_id bg1 · timeout 5\n<status>running</status>\n<output>\nhalf")).
				step(labelled("TaskOutput", "TaskOutput task_id bg10\n<status>completed</status>\n<output>\nanother's")).
				step(labelled("TaskOutput", "TaskOutput task_id bg1\n<status>completed</status>\n<output>\nall"))
		}, "agent:t0.0 agent completed [0,3) Find <Explore> all"},
		{"in the background, killed", func(m *memory) {
			m.step(agent("Explore", "Find", "")).prompt("notice")
			p := &m.passages[len(m.passages)-1]
			p.Kind, p.Label, p.Text = archive.KindOutput, "Agent", "Agent \"Find\" was killed\nnothing"
		}, "agent:t0.0 agent failed [0,1) Find <Explore> nothing"},
		{"tasks of a dead branch are no tasks", func(m *memory) {
			m.step(event("1", "completed", "Lost")).prompt("again").step(event("2", "pending", "Kept"))
			m.turns[0].Dead = true
		}, "2 task pending [0,1) Kept"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			c.write(m)
			if got := shape(m.load(t, 0).List()); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestHookAddsADescription(t *testing.T) {
	m := newMemory().step(event("1", "in_progress", "Write"))
	m.fact(archive.JournalTask, noon(), archive.TaskFact{Event: "TaskCreated", TaskID: "1", Subject: "Write it", Description: "the parser"})
	got := m.load(t, 0).List()
	if len(got) != 1 || got[0].Subject != "Write" || got[0].Description != "the parser" {
		t.Errorf("got %+v", got)
	}
}

func TestAgentRunIsLinkedToItsSession(t *testing.T) {
	m := newMemory().step(agent("Explore", "Find", "a")).step(agent("Explore", "Find", "b"), agent("Explore", "Other", "c"))
	child := func(id string, minute int, description string) archive.Session {
		return archive.Session{ID: session + "~" + id, First: noon().Add(time.Duration(minute) * time.Minute), Agent: archive.Agent{Description: description}}
	}
	m.agents = []archive.Session{child("b", 1, "Find"), child("a", 0, "Find"), child("z", 0, "")} // newest first
	got := m.load(t, 0).List()
	want := []string{session + "~a", session + "~b", ""}
	for i := range want {
		if got[i].AgentID != want[i] {
			t.Errorf("run %d is linked to %q, want %q", i, got[i].AgentID, want[i])
		}
	}
}

// A list at a line ignores everything after it.
func TestListAtALine(t *testing.T) {
	m := newMemory().step(event("1", "in_progress", "Write"), agent("Explore", "Find", "three")).step(event("1", "completed", ""))
	if got, want := shape(m.load(t, m.steps[1].LineFrom).List()),
		"1 task in_progress [0,1) Write\nagent:t0.0 agent completed [0,1) Find <Explore> three"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := shape(m.load(t, m.steps[0].LineFrom+1).List()), "1 task in_progress [0,1) Write\nagent:t0.0 agent in_progress [0,1)"; got != want {
		t.Errorf("before the result: got\n%s\nwant\n%s", got, want)
	}
}

func TestThousandsOfTasks(t *testing.T) {
	m := newMemory()
	for i := range 5000 {
		m.step(event(fmt.Sprint(i), "completed", "Work"))
	}
	if n := len(m.load(t, 0).List()); n != 5000 {
		t.Errorf("%d tasks", n)
	}
}

func TestLoadReturnsErrors(t *testing.T) {
	m := newMemory().idle(1)
	m.fail = errors.New("disk on fire")
	if _, err := task.Load(t.Context(), m, session, 0); !errors.Is(err, m.fail) {
		t.Errorf("got %v", err)
	}
}
