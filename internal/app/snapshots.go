package app

import (
	"time"

	"strandline/internal/archive"
)

// SnapshotDraft is a snapshot as a program tells it.
type SnapshotDraft struct {
	Session string `json:"session"` // the client's id, or a handle of a session that is kept
	// Fill takes what the draft has nothing of (tasks, agents, messages, actions,
	// files) from the archive, if it keeps the session.
	Fill bool `json:"fill,omitempty"`
	archive.SnapshotFact
}

// Snapshot is the state of a session's work at a moment.
type Snapshot struct {
	ID      string    `json:"id"`
	Session string    `json:"session"`
	Handle  string    `json:"handle"`
	Time    time.Time `json:"time"`
	archive.SnapshotFact
	// LeftOut says what was too much to keep; only the answer to who saved it does.
	LeftOut []string `json:"left_out,omitempty"`
}

// SnapshotLine is a snapshot as a list shows it.
type SnapshotLine struct {
	ID        string    `json:"id"`
	Session   string    `json:"session"`
	Handle    string    `json:"handle"`
	Time      time.Time `json:"time"`
	Trigger   string    `json:"trigger,omitempty"`
	AgentType string    `json:"agent_type,omitempty"`
	Summary   string    `json:"summary,omitempty"`
	Tasks     int       `json:"tasks"`
	Agents    int       `json:"agents"`
	Messages  int       `json:"messages"`
	Actions   int       `json:"actions"`
}

// SnapshotBrief is what an agent of a role needs of a snapshot.
type SnapshotBrief struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	Role    Kind   `json:"role"`
	Chars   int    `json:"chars"`
	Text    string `json:"text"`
}

// summaryShown is how many bytes of a summary a list shows.
const summaryShown = 200

// Line is the snapshot as a list shows it.
func (s Snapshot) Line() SnapshotLine {
	return SnapshotLine{
		ID: s.ID, Session: s.Session, Handle: s.Handle, Time: s.Time, Trigger: s.Trigger, AgentType: s.AgentType,
		Summary: archive.Clip(s.Summary, summaryShown), Tasks: len(s.Tasks), Agents: len(s.Agents), Messages: len(s.Messages), Actions: len(s.Actions),
	}
}

// SnapshotsAsk asks for a snapshot: by its id, or the latest of a session if that
// is "latest".
type SnapshotsAsk struct {
	ID      string
	Session string // handle or id
}
