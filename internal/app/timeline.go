package app

import (
	"time"

	"strandline/internal/task"
)

// Timeline is a session's course for scripts.
type Timeline struct {
	Session     string    `json:"session"`
	Project     string    `json:"project"`
	Tokens      []int64   `json:"tokens"` // in the context, after each response
	Turns       []Turn    `json:"turns"`
	Tasks       []Task    `json:"tasks"`
	Segments    []Segment `json:"segments"`
	Compactions []Cut     `json:"compactions"`
}

// Cut is where the context was cut.
type Cut struct {
	Handle  string    `json:"handle"`
	Time    time.Time `json:"time"`
	Trigger string    `json:"trigger"`
	Ours    bool      `json:"ours"`
	Pre     int64     `json:"pre_tokens"`
	Post    int64     `json:"post_tokens"`
}

// ContextCurve is how many tokens stood in the context with each response.
func ContextCurve(p *task.History) []int64 {
	out := make([]int64, 0, len(p.Steps))
	for _, s := range p.Steps {
		if n := s.Usage.Context() + s.Usage.Output; n > 0 {
			out = append(out, n)
		}
	}
	return out
}

// NewTimeline is the course of a session.
func NewTimeline(past *task.History, state *task.State) Timeline {
	out := Timeline{
		Session: past.Session.ID, Project: ProjectName(past.Session.Project), Tokens: ContextCurve(past), Turns: []Turn{},
		Tasks: Tasks(past, false), Segments: Segments(state, false, len(past.Steps)), Compactions: []Cut{},
	}
	for _, t := range past.Turns {
		turn := NewTurn(t)
		turn.Dead, turn.Copy = false, "" // a course has neither
		out.Turns = append(out.Turns, turn)
	}
	for _, c := range past.Compactions {
		out.Compactions = append(out.Compactions, Cut{CutHandle(c), c.Time, c.Trigger, c.Ours, c.PreTokens, c.PostTokens})
	}
	return out
}
