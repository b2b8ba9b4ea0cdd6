package task

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
)

// Kind is the source of a task.
type Kind string

// The kinds of tasks.
const (
	KindTask  Kind = "task"  // from the client's task tools
	KindTodo  Kind = "todo"  // an item of a to-do list
	KindAgent Kind = "agent" // a sub-agent run
	KindTopic Kind = "topic" // a part of the conversation about one topic
)

// The states of a task. An open item that is missing in a new to-do list is deleted.
const (
	Pending    = "pending"
	InProgress = "in_progress"
	Completed  = "completed"
	Deleted    = "deleted"
	Failed     = "failed" // a sub-agent run that ended with an error
)

// Task is a piece of work in a session.
type Task struct {
	Session     string
	ID          string
	Kind        Kind
	Subject     string // redacted; empty if only updates are known
	Description string // redacted; from a task hook
	Status      string
	Agent       string // type of a sub-agent
	AgentID     string // session of a sub-agent run, if archived
	Result      string // redacted; start of a sub-agent's answer
	Created     time.Time
	Changed     time.Time
	// First and Last are the places of the start and of the last change.
	First, Last archive.Ref
	Start, End  int // moments, End exclusive
}

// Open reports whether the task is not finished.
func (t Task) Open() bool { return t.Status == Pending || t.Status == InProgress }

// hookTask is the fact that a task hook reported.
type hookTask struct {
	archive.TaskFact
	time time.Time
}

func hookTasks(entries []archive.JournalEntry) (out []hookTask) {
	for _, e := range entries {
		var f archive.TaskFact
		if json.Unmarshal(e.Data, &f) == nil && f.TaskID != "" {
			out = append(out, hookTask{f, e.Time})
		}
	}
	return out
}

// List returns the tasks of the session's lists and hooks and its sub-agent runs, in
// order of their start. It does not return topics; see All and Segments.
func (h *History) List() []Task {
	l := taskList{h: h, index: map[string]int{}}
	for _, e := range h.events {
		l.addEvent(e)
	}
	for _, hook := range h.hooks {
		l.addHook(hook)
	}
	l.tasks = append(l.tasks, h.agentRuns()...)
	slices.SortStableFunc(l.tasks, func(a, b Task) int { return cmp.Compare(a.Start, b.Start) })
	return l.tasks
}

// taskList builds tasks from events.
type taskList struct {
	h     *History
	tasks []Task
	index map[string]int // of each task ID
}

func (l *taskList) get(id string, when time.Time) (t *Task, created bool) {
	i, known := l.index[id]
	if !known {
		i = len(l.tasks)
		l.index[id] = i
		kind := KindTask
		if strings.HasPrefix(id, "todo:") {
			kind = KindTodo
		}
		l.tasks = append(l.tasks, Task{Session: l.h.Session.ID, ID: id, Kind: kind, Status: Pending, Created: when})
	}
	return &l.tasks[i], !known
}

func (l *taskList) addEvent(e archive.TaskEvent) {
	t, created := l.get(e.TaskID, e.Time)
	place, moment := archive.Ref{Session: e.Session, Turn: e.Turn, Step: e.Step}, l.h.Moment(e.Turn, e.Step)
	started := e.Status == InProgress && t.Status == Pending
	t.Subject, t.Status = cmp.Or(e.Subject, t.Subject), cmp.Or(e.Status, t.Status)
	// A task starts when it becomes InProgress, or with its first event if it never does.
	if created || started {
		t.First, t.Start = place, moment
	}
	t.Last, t.End, t.Changed = place, max(moment+1, t.Start+1), e.Time
}

// addHook adds what a hook reported: a description, and a task or its end that the
// transcript does not contain yet.
func (l *taskList) addHook(hook hookTask) {
	t, created := l.get(hook.TaskID, hook.time)
	t.Subject, t.Description = cmp.Or(t.Subject, hook.Subject), cmp.Or(hook.Description, t.Description)
	n := momentOf(l.h.Steps, hook.time)
	if created {
		t.Start, t.End, t.Changed = n, n+1, hook.time
		t.First = l.h.ref(n)
		t.Last = t.First
	}
	if hook.Event == "TaskCompleted" && t.Open() && !hook.time.Before(t.Changed) {
		t.Status, t.Changed, t.End, t.Last = Completed, hook.time, max(n+1, t.Start+1), l.h.ref(n)
	}
}

// momentOf returns the moment of the last step until a time.
func momentOf(steps []archive.Step, t time.Time) int {
	n, _ := slices.BinarySearchFunc(steps, t, func(s archive.Step, t time.Time) int {
		if s.Time.After(t) {
			return 1
		}
		return -1
	})
	return max(n-1, 0)
}
