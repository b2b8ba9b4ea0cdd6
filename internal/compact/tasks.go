package compact

import "strandline/internal/archive"

// task is the state of a task at the cut.
type task struct {
	id, subject, status string
	turn, step          int // of its last change
}

// open reports whether work is left.
func (t task) open() bool {
	return t.status != "completed" && t.status != "deleted" && t.status != "cancelled"
}

// foldTasks applies events in order; tasks come in the order they were made.
func foldTasks(events []archive.TaskEvent) []task {
	var tasks []task
	at := map[string]int{}
	for _, e := range events {
		i, ok := at[e.TaskID]
		if !ok {
			i = len(tasks)
			at[e.TaskID] = i
			tasks = append(tasks, task{id: e.TaskID, status: "pending"})
		}
		t := &tasks[i]
		t.turn, t.step = e.Turn, e.Step
		if e.Subject != "" {
			t.subject = e.Subject
		}
		if e.Status != "" {
			t.status = e.Status
		}
	}
	return tasks
}
