package task

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
)

// Kind says how a task is known.
type Kind string

// The kinds of task.
const (
	KindTask  Kind = "task"  // kept by the client's task tools
	KindTodo  Kind = "todo"  // an item of a list of to-dos
	KindAgent Kind = "agent" // a sub-agent's run
	KindTopic Kind = "topic" // a stretch of conversation on one topic
)

// The states of a task. A list that drops an open item deletes it.
const (
	Pending    = "pending"
	InProgress = "in_progress"
	Completed  = "completed"
	Deleted    = "deleted"
	Failed     = "failed" // a sub-agent's run that ended with an error
)

// Task is one piece of work of a session. Turns and steps are those of the
// transcript; Start and End count steps of the live conversation from 0.
type Task struct {
	Session     string
	ID          string
	Kind        Kind
	Subject     string // redacted; empty where only updates were seen
	Description string // redacted; what a task hook said beside the subject
	Status      string
	Agent       string // of a sub-agent's run: its type
	AgentID     string // the session that holds the run, if it is kept
	Result      string // redacted; what a sub-agent answered, its first lines
	Created     time.Time
	Changed     time.Time
	// First and Last are the places at which the work began and was last changed.
	First, Last archive.Ref
	Start, End  int // moments; End is exclusive
}

// Open reports whether work is left.
func (t Task) Open() bool { return t.Status == Pending || t.Status == InProgress }

// hookTask is what a task hook told, with the time at which it did.
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

// List returns the session's tasks in the order in which they came up: those of
// a task list, of hooks, and sub-agents' runs. Topics are not among them; see
// Segments.
func (p *History) List() []Task {
	l := lister{past: p, at: map[string]int{}}
	for _, e := range p.events {
		l.event(e)
	}
	for _, h := range p.hooks {
		l.hook(h)
	}
	l.tasks = append(l.tasks, p.runs()...)
	slices.SortStableFunc(l.tasks, func(a, b Task) int { return cmp.Compare(a.Start, b.Start) })
	return l.tasks
}

// lister folds events into tasks.
type lister struct {
	past  *History
	tasks []Task
	at    map[string]int
}

func (l *lister) task(id string, when time.Time) (*Task, bool) {
	i, known := l.at[id]
	if !known {
		i = len(l.tasks)
		l.at[id] = i
		kind := KindTask
		if strings.HasPrefix(id, "todo:") {
			kind = KindTodo
		}
		l.tasks = append(l.tasks, Task{Session: l.past.Session.ID, ID: id, Kind: kind, Status: Pending, Created: when})
	}
	return &l.tasks[i], !known
}

func (l *lister) event(e archive.TaskEvent) {
	t, fresh := l.task(e.TaskID, e.Time)
	place, moment := archive.Ref{Session: e.Session, Turn: e.Turn, Step: e.Step}, l.past.Moment(e.Turn, e.Step)
	begins := e.Status == InProgress && t.Status == Pending
	if e.Subject != "" {
		t.Subject = e.Subject
	}
	if e.Status != "" {
		t.Status = e.Status
	}
	// A task begins when it is taken up, or with its first event where it never is.
	if fresh || begins {
		t.First, t.Start = place, moment
	}
	t.Last, t.End, t.Changed = place, max(moment+1, t.Start+1), e.Time
}

// hook adds what only a hook told: a description, and a task or an end that the
// transcript does not hold yet.
func (l *lister) hook(h hookTask) {
	p := l.past
	t, fresh := l.task(h.TaskID, h.time)
	t.Subject, t.Description = cmp.Or(t.Subject, h.Subject), cmp.Or(h.Description, t.Description)
	if fresh {
		n := sortTime(p.Steps, h.time)
		t.Start, t.End, t.Changed = n, n+1, h.time
		t.First = p.place(n)
		t.Last = t.First
	}
	if h.Event == "TaskCompleted" && t.Open() && !h.time.Before(t.Changed) {
		n := sortTime(p.Steps, h.time)
		t.Status, t.Changed, t.End, t.Last = Completed, h.time, max(n+1, t.Start+1), p.place(n)
	}
}

// sortTime returns the moment of a time: the last step that was made until then.
func sortTime(steps []archive.Step, t time.Time) int {
	n, _ := slices.BinarySearchFunc(steps, t, func(s archive.Step, t time.Time) int {
		if s.Time.After(t) {
			return 1
		}
		return -1
	})
	return max(n-1, 0)
}

// place is the step at a moment; behind the last one it is the last.
func (p *History) place(moment int) archive.Ref {
	if len(p.Steps) == 0 {
		return archive.Ref{Session: p.Session.ID, Turn: 0, Step: -1}
	}
	s := p.Steps[min(moment, len(p.Steps)-1)]
	return archive.Ref{Session: p.Session.ID, Turn: s.Turn, Step: s.Index}
}
