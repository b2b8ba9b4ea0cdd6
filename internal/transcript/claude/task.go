package claude

import (
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
)

const maxSubject = 300 // characters

// taskUse folds the request of a tool that keeps a task list. A list of to-dos
// counts as it is written; a single task once the client has confirmed it.
func (r *Reader) taskUse(s *stepState, row *row, c *callState, in input) {
	if c.side {
		return
	}
	switch c.row.Name {
	case "TaskCreate":
		c.task = archive.TaskEvent{Subject: r.subject(in.text("subject", "description")), Status: "pending"}
	case "TaskUpdate":
		c.task = archive.TaskEvent{
			TaskID: clipBytes(in.text("taskId", "task_id", "id"), maxID), Subject: r.subject(in.text("subject")),
			Status: taskStatus(in.text("status")),
		}
	case "TodoWrite":
		r.todoList(s, row, in.value("todos"))
	}
}

// taskResult turns a confirmed request into an event at the line of the result.
func (r *Reader) taskResult(c *callState, row *row, text string, facts *resultFacts) {
	e := c.task
	switch {
	case c.row.Failed || c.side || facts.refused:
	case c.row.Name == "TaskCreate":
		if e.TaskID = name(facts.taskID); e.TaskID == "" {
			e.TaskID = createdID(text)
		}
		if e.TaskID != "" {
			r.putTask(e, c.row.Turn, c.row.Step, row, 0)
		}
	case c.row.Name == "TaskUpdate":
		if e.TaskID != "" && (e.Subject != "" || e.Status != "") {
			r.putTask(e, c.row.Turn, c.row.Step, row, 0)
		}
	}
	if c.row.Failed || c.row.Name == "TaskCreate" {
		short := ""
		if c.row.Failed {
			short = text
		}
		r.output(c, row, short, facts)
	}
}

func (r *Reader) putTask(e archive.TaskEvent, turn, step int, row *row, seq int) {
	for i := len(r.out.Tasks) - 1; i >= 0 && r.out.Tasks[i].Line == row.line; i-- {
		seq = max(seq, r.out.Tasks[i].Seq+1)
	}
	e.Session, e.Line, e.Seq, e.Time, e.Turn, e.Step = r.base.ID, row.line, seq, row.time, turn, step
	r.out.Tasks = append(r.out.Tasks, e)
}

// createdID reads the id out of "Task #3 created successfully: …".
func createdID(text string) string {
	_, rest, ok := strings.Cut(text, "Task #")
	if !ok {
		return ""
	}
	id, _, ok := strings.Cut(rest, " ")
	if !ok || len(id) > 64 {
		return ""
	}
	return id
}

// todoList emits the items whose state a new list changes. The list is all there
// is: an open item that it no longer names was dropped. Items of the same name
// are told apart by their order.
func (r *Reader) todoList(s *stepState, row *row, raw []byte) {
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	put := func(e archive.TaskEvent) { r.putTask(e, s.row.Turn, s.row.Index, row, 0) }
	named := map[string]int{}
	r.scan.list(raw, func(raw []byte) {
		in := r.scan.readInput(raw)
		subject := r.subject(in.text("content", "subject", "text"))
		id := clipBytes(in.text("id"), maxID)
		if id == "" {
			if subject == "" {
				return
			}
			id = "todo:" + strconv.FormatUint(xxhash.Sum64String(subject), 16)
		}
		if named[id]++; named[id] > 1 {
			id += "#" + strconv.Itoa(named[id])
			named[id] = 1
		}
		status := taskStatus(in.text("status"))
		if r.changed(xxhash.Sum64String(id+"\x00"+subject), id, status) {
			put(archive.TaskEvent{TaskID: id, Subject: subject, Status: status})
		}
	})
	for i := range r.state.todos {
		if t := &r.state.todos[i]; t.open() && t.name != "" && named[t.name] == 0 {
			t.status = "deleted"
			put(archive.TaskEvent{TaskID: t.name, Status: t.status})
		}
	}
}

// changed remembers the status of an item and reports whether it is new.
func (r *Reader) changed(id uint64, name, status string) bool {
	todos := r.state.todos
	for i := range todos {
		if todos[i].id == id {
			was := todos[i].status
			todos[i].status = status
			return was != status
		}
	}
	if len(todos) >= maxTodos {
		todos = append(todos[:0], todos[1:]...)
	}
	r.state.todos = append(todos, todo{id, status, name})
	return true
}

// taskStatus returns a status that the domain knows, else "".
func taskStatus(s string) string {
	switch s {
	case "pending", "in_progress", "completed", "deleted":
		return s
	case "cancelled", "canceled":
		return "deleted"
	}
	return ""
}

func (r *Reader) subject(text string) string { return oneLine(r.clean(text), maxSubject) }
