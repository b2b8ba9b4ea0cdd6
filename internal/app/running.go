package app

import (
	"time"

	"strandline/internal/archive"
	"strandline/internal/usage"
)

// Running is a session that works now, with how full its context window is. The
// figures are 0 where nothing is known.
type Running struct {
	Session   string    `json:"session"`
	Handle    string    `json:"handle"`
	Project   string    `json:"project"`
	Title     string    `json:"title"`
	Model     string    `json:"model,omitempty"`
	Turns     int       `json:"turns"`
	Last      time.Time `json:"last"`
	Tokens    int64     `json:"tokens"`
	Estimated bool      `json:"estimated,omitempty"`
	Window    int64     `json:"window"`
	Share     float64   `json:"share"` // of the window, from 0 to 1
	Zone      string    `json:"zone,omitempty"`
	Growth    int64     `json:"growth"` // tokens a turn
	// Next is where the client compacts, or stops sending if Compacts is false.
	Next      int64         `json:"next"`
	Compacts  bool          `json:"compacts"`
	TurnsLeft *int          `json:"turns_left"` // until Next, null where it cannot be told
	History   []usage.Point `json:"history"`
}

// NewRunning is a session with the gauge of its context.
func NewRunning(s archive.Session, g usage.Session) Running {
	out := Running{
		Session: s.ID, Handle: archive.ShortID(s.ID), Project: ProjectName(s.Project), Title: s.Title, Model: s.Model, Turns: s.Turns, Last: s.Last,
		Tokens: g.LastTokenEstimate, Estimated: g.Estimated, Window: g.Window, Share: *Rounded(g.LastPercentage), Zone: g.Zone,
		Growth: g.Growth, Next: g.Limit, Compacts: g.Compacts, History: append([]usage.Point{}, g.History...),
	}
	if n, ok := usage.TurnsLeft(g.LastTokenEstimate, g.Limit, g.Growth); ok {
		out.TurnsLeft = &n
	}
	return out
}
