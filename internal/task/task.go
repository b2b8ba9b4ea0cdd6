package task

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Kind is the source of a task.
type Kind string

// The kinds of tasks.
const (
	KindTask  Kind = "task"  // from the client's task tools
	KindTodo  Kind = "todo"  // an item of a to-do list
	KindAgent Kind = "agent" // a sub-agent run
	KindTopic Kind = "topic" // a part of the conversation about one topic
	// KindReported is a task of a snapshot that a program posted.
	KindReported Kind = "reported"
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
	Session     string `json:"session"`
	ID          string `json:"id"`
	Kind        Kind   `json:"kind"`
	Subject     string `json:"subject"`               // redacted; empty if only updates are known
	Description string `json:"description,omitempty"` // redacted; from a task hook
	Status      string `json:"status"`
	// First and Last are the places of the start and of the last change.
	First, Last archive.Ref `json:"-"`
	Start, End  int         `json:"-"` // moments, End exclusive
	Agent       string      `json:"-"` // type of a sub-agent
	AgentID     string      `json:"-"` // session of a sub-agent run, if archived
	Result      string      `json:"-"` // redacted; start of a sub-agent's answer
	Created     time.Time   `json:"-"`
	Changed     time.Time   `json:"-"`
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
		if f, ok := archive.FactOf[archive.TaskFact](&e); ok && f.TaskID != "" {
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

// addHook adds the facts that a hook reported: a description, and a task or its end that the
// transcript does not contain yet.
func (l *taskList) addHook(hook hookTask) {
	t, created := l.get(hook.TaskID, hook.time)
	t.Subject, t.Description = cmp.Or(t.Subject, hook.Subject), cmp.Or(hook.Description, t.Description)
	steps := l.h.Steps
	n := max(sort.Search(len(steps), func(i int) bool { return steps[i].Time.After(hook.time) })-1, 0)
	if created {
		t.Start, t.End, t.Changed = n, n+1, hook.time
		t.First = l.h.ref(n)
		t.Last = t.First
	}
	if hook.Event == "TaskCompleted" && t.Open() && !hook.time.Before(t.Changed) {
		t.Status, t.Changed, t.End, t.Last = Completed, hook.time, max(n+1, t.Start+1), l.h.ref(n)
	}
}

// maxResult is the length of a sub-agent's answer in a task, in UTF-16 units.
const maxResult = 600

// backgroundPrefix starts the answer of a run that continues in the background.
const backgroundPrefix = "[in background] agentId: "

// agentRuns returns the sub-agent runs that the session started.
func (h *History) agentRuns() (out []Task) {
	passages := h.agentPassages()
	linked := map[string]bool{} // sessions
	for _, c := range h.Calls {
		if c.Kind != archive.CallAgent {
			continue
		}
		place, start := archive.Ref{Session: h.Session.ID, Turn: c.Turn, Step: c.Step}, h.Moment(c.Turn, c.Step)
		t := Task{
			Session: h.Session.ID, ID: "agent:" + c.ToolID, Kind: KindAgent, Status: InProgress,
			First: place, Last: place, Start: start, End: start + 1,
		}
		if t.Start < len(h.Steps) {
			t.Created = h.Steps[t.Start].Time
			t.Changed = t.Created.Add(c.Duration)
		}
		if key := stepKey(c.Turn, c.Step); len(passages[key]) > 0 {
			x := passages[key][0]
			passages[key] = passages[key][1:]
			head, answer, _ := strings.Cut(x.Text, "\n")
			t.Agent, t.Subject = archive.AgentCall(head, x.Label)
			t.Result = clipResult(answer)
		}
		switch {
		case c.Failed:
			t.Status, t.Result = Failed, c.Error
		case c.LineResult >= 0 && !strings.HasPrefix(t.Result, backgroundPrefix):
			t.Status = Completed
		default:
			h.endBackground(&t, c)
		}
		h.linkSession(&t, linked)
		out = append(out, t)
	}
	return out
}

func clipResult(answer string) string { return text.Truncate(strings.TrimSpace(answer), maxResult) }

// agentPassages returns the passages of agent calls by their step, in the order of the
// calls: "Task <type> · <description> · <prompt>", then the answer.
func (h *History) agentPassages() map[archive.Ref][]archive.Passage {
	out := map[archive.Ref][]archive.Passage{}
	for _, x := range h.Passages {
		if archive.IsAgentTool(x.Label) && x.Step >= 0 {
			key := stepKey(x.Turn, x.Step)
			out[key] = append(out[key], x)
		}
	}
	for _, xs := range out {
		slices.SortFunc(xs, func(a, b archive.Passage) int { return a.Seq - b.Seq })
	}
	return out
}

// endBackground sets the end of a run that continued in the background, if it is known.
func (h *History) endBackground(t *Task, c archive.Call) {
	id, _ := strings.CutPrefix(t.Result, backgroundPrefix)
	t.Result = ""
	for _, x := range h.Passages {
		if x.LineFrom <= c.LineUse {
			continue
		}
		status, answer, ok := backgroundEnd(x, id, t.Subject)
		if !ok {
			continue
		}
		t.Status, t.Changed = Completed, x.Time
		if containsAny(status, "fail", "killed", "stopped", "error") {
			t.Status = Failed
		}
		t.Result = clipResult(answer)
		t.Last = archive.Ref{Session: h.Session.ID, Turn: x.Turn, Step: x.Step}
		t.End = max(t.End, h.Moment(x.Turn, max(x.Step, 0)))
		return
	}
}

// backgroundEnd parses a passage that reports the end of a background run: a notice of
// the client (Agent "<description>" completed), or the answer to a query by the ID.
func backgroundEnd(x archive.Passage, id, subject string) (status, answer string, ok bool) {
	head, answer, _ := strings.Cut(x.Text, "\n")
	switch {
	case x.Label == "Agent" && x.Step < 0 && subject != "":
		status, ok = strings.CutPrefix(head, `Agent "`+subject+`" `)
		return status, answer, ok
	case (x.Label == "TaskOutput" || x.Label == "AgentOutput") && id != "" && strings.Contains(head+" ", "task_id "+id+" "):
		_, status, _ = strings.Cut(answer, "<status>")
		status, _, _ = strings.Cut(status, "</status>")
		_, answer, _ = strings.Cut(answer, "<output>")
		return status, answer, status != "" && status != "running"
	}
	return "", "", false
}

// linkSession links a run to its session: the first one with its description that is
// not linked and started no earlier than the call.
func (h *History) linkSession(t *Task, linked map[string]bool) {
	for _, a := range slices.Backward(h.agents) { // newest first
		if !linked[a.ID] && t.Subject != "" && a.Agent.Description == t.Subject && !a.First.Before(t.Created) {
			linked[a.ID], t.AgentID = true, a.ID
			return
		}
	}
}
