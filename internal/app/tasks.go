package app

import (
	"time"

	"strandline/internal/archive"
	"strandline/internal/task"
)

// Task is a task for scripts.
type Task struct {
	Session     string    `json:"session"`
	ID          string    `json:"id"`
	Kind        string    `json:"kind"`
	Subject     string    `json:"subject"`
	Description string    `json:"description,omitempty"`
	Status      string    `json:"status"`
	Handle      string    `json:"handle"`
	Last        string    `json:"last"`
	StartTurn   int       `json:"start_turn"`
	EndTurn     int       `json:"end_turn"`
	Steps       int       `json:"steps"`
	Agent       string    `json:"agent_type,omitempty"`
	AgentHandle string    `json:"agent_handle,omitempty"`
	Result      string    `json:"result,omitempty"`
	Created     time.Time `json:"created"`
	Changed     time.Time `json:"changed"`
}

// NewTask is a task with where the work on it began and ended.
func NewTask(t task.Task) Task {
	j := Task{
		Session: t.Session, ID: t.ID, Kind: string(t.Kind), Subject: t.Subject, Description: t.Description, Status: t.Status,
		Handle: t.First.Handle(), Last: t.Last.Handle(), StartTurn: t.First.Turn, EndTurn: t.Last.Turn, Steps: t.End - t.Start,
		Agent: t.Agent, Result: t.Result, Created: t.Created, Changed: t.Changed,
	}
	if t.AgentID != "" {
		j.AgentHandle = archive.ShortID(t.AgentID)
	}
	return j
}

// Tasks are those of a session, or only the open ones.
func Tasks(past *task.History, open bool) []Task {
	out := []Task{}
	for _, t := range past.All() {
		if !open || t.Open() {
			out = append(out, NewTask(t))
		}
	}
	return out
}

// TaskTree is a task with those of the sub-agent that it was given to.
type TaskTree struct {
	Task
	Tasks []TaskTree `json:"tasks,omitempty"`
}
