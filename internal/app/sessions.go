package app

import (
	"time"

	"strandline/internal/archive"
)

// Session is a session as scripts read it.
type Session struct {
	Session     string    `json:"session"`
	Handle      string    `json:"handle"`
	Project     string    `json:"project"`
	Client      string    `json:"client"`
	Title       string    `json:"title"`
	Turns       int       `json:"turns"`
	Steps       int       `json:"steps"`
	Calls       int       `json:"calls"`
	Bytes       int64     `json:"bytes"`
	First       time.Time `json:"first"`
	Last        time.Time `json:"last"`
	Compactions int       `json:"compactions"`
	Generation  int       `json:"generation"`
	Parent      string    `json:"parent,omitempty"`
	Relation    string    `json:"relation,omitempty"`
	Agent       string    `json:"agent_type,omitempty"`
	Model       string    `json:"model,omitempty"`
	Branch      string    `json:"branch,omitempty"`
	CostUSD     float64   `json:"cost_usd,omitempty"`
}

// NewSession is a session as a list shows it.
func NewSession(s archive.Session) Session {
	return Session{
		Session: s.ID, Handle: archive.ShortID(s.ID), Project: ProjectName(s.Project), Client: s.Client,
		Title: s.Title, Turns: s.Turns, Steps: s.Steps, Calls: s.Calls, Bytes: s.Bytes,
		First: s.First, Last: s.Last, Compactions: s.Compacts, Generation: s.Generation,
		Parent: s.Parent, Relation: string(s.Relation), Agent: s.Agent.Type, Model: s.Model,
		Branch: s.GitBranch, CostUSD: s.Cost.USD,
	}
}

// ProjectName is how a project is shown: its folder, or its key when that is all
// that is known.
func ProjectName(p archive.Project) string {
	if p.Root != "" {
		return p.Root
	}
	return p.Key
}

// Sessions are a list of them.
func Sessions(list []archive.Session) []Session {
	out := make([]Session, 0, len(list))
	for _, s := range list {
		out = append(out, NewSession(s))
	}
	return out
}
