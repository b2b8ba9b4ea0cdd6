package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/task"
)

// Timeline is a session over time.
type Timeline struct {
	Session     string               `json:"session"`
	Project     string               `json:"project"`
	Tokens      []int64              `json:"tokens"` // in the context, after each response
	Turns       []Turn               `json:"turns"`
	Tasks       []Task               `json:"tasks"`
	Segments    []Segment            `json:"segments"`
	Compactions []TimelineCompaction `json:"compactions"`
	// Info is the session, Steps the number of its live steps, and Rows the timeline
	// as text lists it.
	Info  archive.Session    `json:"-"`
	Steps int                `json:"-"`
	Rows  []task.TimelineRow `json:"-"`
}

// TimelineCompaction is a compaction in a timeline.
type TimelineCompaction struct {
	Handle  string    `json:"handle"`
	Index   int       `json:"index"` // in the session, from 0
	Time    time.Time `json:"time"`
	Trigger string    `json:"trigger"`
	Ours    bool      `json:"ours"`
	Pre     int64     `json:"pre_tokens"`
	Post    int64     `json:"post_tokens"`
}

func newTimelineCompaction(c archive.Compaction) TimelineCompaction {
	return TimelineCompaction{c.Ref().Handle(), c.Index, c.Time, c.Trigger, c.Ours, c.PreTokens, c.PostTokens}
}

// Timeline returns a session's turns, tasks, segments and compactions.
func (a *App) Timeline(ctx context.Context, session string) (Timeline, error) {
	return readSession(ctx, a, session, func(x Archive, id string) (Timeline, error) {
		h, err := task.Load(ctx, x.Index, id, 0)
		if err != nil {
			return Timeline{}, err
		}
		state, err := task.LoadState(ctx, x.Index, id)
		if err != nil {
			return Timeline{}, err
		}
		out := Timeline{
			Session: id, Project: ProjectPath(h.Session.Project), Tokens: []int64{}, Tasks: archive.Convert(h.All(), newTask),
			Segments: segments(state, false, len(h.Steps)), Info: h.Session, Steps: own(h), Rows: task.Timeline(h, state),
			Turns:       archive.Convert(h.Turns, func(t archive.Turn) Turn { return Turn{Handle: t.Ref().Handle(), Turn: t} }),
			Compactions: archive.Convert(h.Compactions, newTimelineCompaction),
		}
		out.Info.Turns = len(out.Turns)
		out.Info.Retold = retold(h.Turns)
		for _, s := range h.Steps {
			if n := s.Usage.Context() + s.Usage.Output; n > 0 {
				out.Tokens = append(out.Tokens, n)
			}
		}
		return out, nil
	})
}

// retold counts the turns that were copied from elsewhere.
func retold(turns []archive.Turn) int {
	return len(archive.Select(turns, func(t archive.Turn) bool { return t.Copy != nil }))
}

// own counts the steps that were not copied from elsewhere.
func own(h *task.History) int {
	return len(archive.Select(h.Steps, func(s archive.Step) bool { return s.Copy == nil }))
}

// Task is a task of a session.
type Task struct {
	task.Task
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

func newTask(t task.Task) Task {
	out := Task{
		Task: t, Handle: t.First.Handle(), Last: t.Last.Handle(), StartTurn: t.First.Turn, EndTurn: t.Last.Turn, Steps: t.End - t.Start,
		Agent: t.Agent, Result: t.Result, Created: t.Created, Changed: t.Changed,
	}
	if t.AgentID != "" {
		out.AgentHandle = archive.ShortID(t.AgentID)
	}
	return out
}

// TaskTree is a task with the tasks of the sub-agent that it was given to.
type TaskTree struct {
	Task
	Tasks []TaskTree `json:"tasks,omitempty"`
}

// Tasks returns a session's tasks, or only the open ones. The last ones are those of its
// current snapshot that it does not list itself. A session that programs only post about
// has these alone.
func (a *App) Tasks(ctx context.Context, session string, open bool) ([]TaskTree, error) {
	return read(ctx, a, func(x Archive) ([]TaskTree, error) {
		id, archived, err := resolveOrNew(ctx, x, session)
		if session == "" {
			id, err = a.sessionOrLatest(ctx, x, session)
			archived = err == nil
		}
		if err != nil {
			return nil, err
		}
		out := []TaskTree{}
		if archived {
			if out, err = taskTree(ctx, x, id, open, maxAgentDepth); err != nil {
				return nil, err
			}
		}
		facts, err := x.Index.Facts(ctx, id, archive.JournalSnapshot)
		if err != nil || !archived && len(facts) == 0 {
			_, _, missing := resolveSession(ctx, x.Index, session)
			return nil, errors.Join(err, missing)
		}
		return append(out, reportedTasks(facts, id, a.Now(), open, out)...), nil
	})
}

// reportedTasks returns the tasks of a session's current snapshot whose subjects are not
// among known.
func reportedTasks(facts []archive.JournalEntry, session string, now time.Time, open bool, known []TaskTree) (out []TaskTree) {
	f, at, _ := archive.CurrentSnapshot(facts, now)
	for _, t := range f.Tasks {
		one := task.Task{
			Session: session, ID: "reported:" + t.ID, Kind: task.KindReported, Subject: t.Subject, Description: t.Description,
			Status: reportedStatus(t.Status), Created: at, Changed: at,
		}
		if open && !one.Open() || slices.ContainsFunc(known, func(k TaskTree) bool { return k.Subject == t.Subject }) {
			continue
		}
		node := newTask(one)
		node.Handle, node.Last, node.Agent = archive.ShortID(session), archive.ShortID(session), t.Owner
		out = append(out, TaskTree{Task: node})
	}
	return out
}

// reportedStatus maps the status that a program posted to one of the client's.
func reportedStatus(status string) string {
	switch s := strings.ToLower(status); {
	case archive.TaskDone(s):
		return task.Completed
	case s == "failed":
		return task.Failed
	case slices.Contains([]string{task.InProgress, "running", "active", "working"}, s):
		return task.InProgress
	}
	return task.Pending
}

// maxAgentDepth is how many levels of sub-agents a tree of tasks follows.
const maxAgentDepth = 5

func taskTree(ctx context.Context, x Archive, id string, open bool, depth int) ([]TaskTree, error) {
	h, err := task.Load(ctx, x.Index, id, 0)
	if err != nil {
		return nil, err
	}
	out := []TaskTree{}
	for _, t := range h.All() {
		if open && !t.Open() {
			continue
		}
		node := TaskTree{Task: newTask(t)}
		if t.AgentID != "" && t.AgentID != id && depth > 0 {
			if node.Tasks, err = taskTree(ctx, x, t.AgentID, open, depth-1); err != nil {
				return nil, err
			}
		}
		out = append(out, node)
	}
	return out, nil
}
