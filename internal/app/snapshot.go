// Package snapshot makes sense of the state of a session's work as a program told
// it: what of it is kept, the hierarchy of its tasks, and the brief that it gives
// to an agent of a role.
package app

import (
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// How much a snapshot holds. Of lists that read in time the newest are kept.
const (
	MaxTasks    = 500
	MaxAgents   = 100
	MaxMessages = 200
	MaxActions  = 500
	MaxListed   = 500 // files, decisions, what is next
	MaxText     = 16 << 10
)

// Check refuses what is no snapshot: tasks without an id or a subject, or with the
// same id.
func Check(f archive.SnapshotFact) error {
	seen := map[string]bool{}
	for i, t := range f.Tasks {
		switch {
		case t.ID == "" || t.Subject == "":
			return archive.Invalid(fmt.Sprintf("task %d has no id or no subject", i), "give each task both")
		case seen[t.ID]:
			return archive.Invalid(fmt.Sprintf("two tasks have the id %q", archive.Clip(t.ID, 60)), "give each task an id of its own")
		}
		seen[t.ID] = true
	}
	for i, m := range f.Messages {
		if m.Text == "" {
			return archive.Invalid(fmt.Sprintf("message %d has no text", i), "leave it out")
		}
	}
	return nil
}

// Bound cuts a snapshot down to what is kept of one, and says what it left out.
func Bound(f archive.SnapshotFact) (archive.SnapshotFact, []string) {
	var left []string
	f.Tasks = first(f.Tasks, MaxTasks, "task", &left)
	f.Agents = first(f.Agents, MaxAgents, "agent", &left)
	f.Messages = last(f.Messages, MaxMessages, "message", &left)
	f.Actions = last(f.Actions, MaxActions, "action", &left)
	f.Files = first(f.Files, MaxListed, "file", &left)
	f.Decisions = last(f.Decisions, MaxListed, "decision", &left)
	f.Next = first(f.Next, MaxListed, "next step", &left)
	cut := 0
	f.EachText(func(s string) string {
		if len(s) > MaxText {
			cut++
			return archive.Clip(s, MaxText)
		}
		return s
	})
	if cut > 0 {
		left = append(left, fmt.Sprintf("the ends of %d long texts", cut))
	}
	return f, left
}

func first[T any](list []T, n int, what string, left *[]string) []T {
	return list[:kept(len(list), n, what, left)]
}

func last[T any](list []T, n int, what string, left *[]string) []T {
	return list[len(list)-kept(len(list), n, what, left):]
}

// kept is how many of a list are, and notes those that are not.
func kept(has, most int, what string, left *[]string) int {
	if has <= most {
		return has
	}
	*left = append(*left, fmt.Sprintf("%d of %d %ss", has-most, has, what))
	return most
}

// Node is a task with those that are part of it.
type Node struct {
	archive.SnapshotTask
	Tasks []Node `json:"tasks,omitempty"`
}

// Tree is the hierarchy of tasks. One whose parent is not there, or is part of
// itself, stands at the top.
func Tree(tasks []archive.SnapshotTask) []Node {
	parents := map[string]string{}
	for _, t := range tasks {
		parents[t.ID] = t.Parent
	}
	children := map[string][]archive.SnapshotTask{}
	for _, t := range tasks {
		parent := t.Parent
		if _, known := parents[parent]; !known || circular(parents, t.ID) {
			parent = ""
		}
		children[parent] = append(children[parent], t)
	}
	return below(children, "")
}

func below(children map[string][]archive.SnapshotTask, parent string) []Node {
	var out []Node
	for _, t := range children[parent] {
		out = append(out, Node{SnapshotTask: t, Tasks: below(children, t.ID)})
	}
	return out
}

// circular reports whether a task is part of itself.
func circular(parents map[string]string, id string) bool {
	at := parents[id]
	for range parents {
		if at == id {
			return true
		}
		if at == "" {
			return false
		}
		at = parents[at]
	}
	return at != ""
}

// done reports whether a task's status says that no work is left.
func done(status string) bool {
	return slices.Contains([]string{"completed", "done", "deleted", "cancelled", "canceled"}, strings.ToLower(status))
}
