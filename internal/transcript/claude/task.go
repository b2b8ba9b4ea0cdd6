package claude

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
	"strandline/internal/text"
)

const maxSubject = 300 // characters

// taskUse folds the request of a task tool. A to-do list takes effect at the
// request, a single task at the client's confirmation.
func (r *Reader) taskUse(s *stepState, row *row, c *callState, in input) {
	if c.sidechain {
		return
	}
	switch c.row.Name {
	case "TaskCreate":
		c.task = archive.TaskEvent{Subject: r.subject(in.text("subject", "description")), Status: "pending"}
	case "TaskUpdate":
		c.task = archive.TaskEvent{
			TaskID: text.Prefix(in.text("taskId", "task_id", "id"), maxID), Subject: r.subject(in.text("subject")),
			Status: taskStatus(in.text("status")),
		}
	default:
		for _, list := range []string{"todos", "plan"} {
			if items := in.value(list); len(items) > 0 && items[0] == '[' {
				r.todoList(s, row, items)
			}
		}
	}
}

// taskResult emits the event of a confirmed request.
func (r *Reader) taskResult(c *callState, row *row, body string, facts resultFacts) {
	e := c.task
	if c.row.Name == "TaskCreate" {
		if e.TaskID = name(facts.taskID); e.TaskID == "" {
			e.TaskID = createdID(body)
		}
	}
	known := c.row.Name == "TaskCreate" || c.row.Name == "TaskUpdate"
	if known && !c.row.Failed && !c.sidechain && !facts.refused && e.TaskID != "" && (e.Subject != "" || e.Status != "") {
		r.putTask(e, c.row.Turn, c.row.Step, row)
	}
	switch {
	case c.row.Failed:
		r.output(c, row, body, facts)
	case c.row.Name == "TaskCreate":
		r.output(c, row, "", facts)
	}
}

func (r *Reader) putTask(e archive.TaskEvent, turn, step int, row *row) {
	for i := len(r.out.Tasks) - 1; i >= 0 && r.out.Tasks[i].Line == row.line; i-- {
		e.Seq = max(e.Seq, r.out.Tasks[i].Seq+1)
	}
	e.Session, e.Line, e.Time, e.Turn, e.Step = r.base.ID, row.line, row.time, turn, step
	r.out.Tasks = append(r.out.Tasks, e)
}

// createdID returns the id in "Task #3 created successfully: …".
func createdID(body string) string {
	_, rest, _ := strings.Cut(body, "Task #")
	if id, _, ok := strings.Cut(rest, " "); ok && len(id) <= 64 {
		return id
	}
	return ""
}

// todoList emits the items that a new list changes. A list is complete: an open
// item that it omits was deleted. Items with the same name are distinguished by
// their order.
func (r *Reader) todoList(s *stepState, row *row, raw []byte) {
	put := func(e archive.TaskEvent) { r.putTask(e, s.row.Turn, s.row.Index, row) }
	listed := map[string]int{}
	for _, raw := range r.scan.elements(raw) {
		in := r.scan.readInput(raw)
		subject := r.subject(in.text("content", "subject", "text", "step", "description", "title"))
		id := text.Prefix(in.text("id"), maxID)
		if id == "" {
			if subject == "" {
				continue
			}
			id = "todo:" + strconv.FormatUint(xxhash.Sum64String(subject), 16)
		}
		if listed[id]++; listed[id] > 1 {
			id += "#" + strconv.Itoa(listed[id])
			listed[id] = 1
		}
		status := taskStatus(in.text("status"))
		if r.setTodo(xxhash.Sum64String(id+"\x00"+subject), id, status) {
			put(archive.TaskEvent{TaskID: id, Subject: subject, Status: status})
		}
	}
	for i := range r.state.todos {
		if t := &r.state.todos[i]; t.open() && t.name != "" && listed[t.name] == 0 {
			t.status = "deleted"
			put(archive.TaskEvent{TaskID: t.name, Status: t.status})
		}
	}
}

// setTodo stores the status of an item and reports whether it changed.
func (r *Reader) setTodo(id uint64, name, status string) bool {
	i := slices.IndexFunc(r.state.todos, func(t todo) bool { return t.id == id })
	if i < 0 {
		r.state.todos = keepLast(append(r.state.todos, todo{id, status, name}), maxTodos)
		return true
	}
	was := r.state.todos[i].status
	r.state.todos[i].status = status
	return was != status
}

// taskStatus returns a status of the archive's tasks, "" for an unknown one.
func taskStatus(s string) string {
	switch s {
	case "pending", "in_progress", "completed", "deleted":
		return s
	case "cancelled", "canceled":
		return "deleted"
	}
	return ""
}

func (r *Reader) subject(s string) string { return oneLine(r.clean(s), maxSubject) }
