package archive

import "time"

// Relation is the relation of a session to its parent.
type Relation string

// The relations of a session to its parent session; "" if it has none.
const (
	RelationFork  Relation = "fork"  // a continuation of rows copied from the parent
	RelationAgent Relation = "agent" // a sub-agent's run inside the parent
)

// Session is one conversation of one client in one project.
type Session struct {
	// ID is the client's ID. A sub-agent's is "<parent ID>~<agent ID>", that of an
	// older generation of a rewritten transcript "<ID>@<generation>".
	ID       string
	Client   string // "claude"
	Project  Project
	Parent   string // ID of the parent session, empty if there is none
	Relation Relation
	Agent    Agent // set when Relation is RelationAgent

	Cwd       string // working directory when the session began
	GitBranch string // last branch seen
	Version   string // last client version seen
	Model     string // model of the last main-chain response
	Title     string // first prompt, redacted, one line, at most 120 characters

	First, Last time.Time // time of the first and the last dated row, UTC

	Generation int   // 1 if the transcript was never rewritten
	Bytes      int64 // bytes of the transcript that are in the log
	Lines      int   // complete lines that are indexed
	Turns      int   // turns, including dead branches
	Steps      int   // API responses, each counted once
	Calls      int   // tool calls
	Compacts   int   // compactions

	// Author and Machine name who pushed the session to a team's archive. They are
	// empty in a local archive.
	Author, Machine string

	Usage Usage // sums over the session, each API response counted once
	Cost  Cost  // the client's running totals, zero if it wrote none
}

// Agent describes the sub-agent whose run a session is.
type Agent struct {
	ID          string
	Type        string // "general-purpose", "Explore" …
	Description string
}

// Usage counts tokens as the API reported them.
type Usage struct {
	Input      int64 // uncached input tokens
	Output     int64
	CacheRead  int64
	CacheWrite int64 // cache creation
}

// Context returns the number of tokens in the context window of the response: uncached,
// cache-read and cache-created input together.
func (u Usage) Context() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// Add returns the sum of both usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:      u.Input + v.Input,
		Output:     u.Output + v.Output,
		CacheRead:  u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite,
	}
}

// IsZero reports whether all counts are zero.
func (u Usage) IsZero() bool { return u == Usage{} }

// Cost holds the totals that the client computes for a session.
type Cost struct {
	USD                   float64
	APITime, Duration     time.Duration
	Turns                 int // as the client counts them (result rows)
	LinesAdded, LinesGone int
}

// Project is the project in which a session ran. Two folders with the same git common
// directory are one project. The remote identifies a folder that was moved.
type Project struct {
	// Key identifies the project: "git:<common dir>" inside a repository,
	// "dir:<folder>" elsewhere, "" if unknown.
	Key      string `json:"key"`
	Name     string `json:"name,omitempty"`     // last element of the root, for display
	Root     string `json:"root,omitempty"`     // main work tree or folder
	Worktree string `json:"worktree,omitempty"` // linked work tree, empty in the main one
	Remote   string `json:"remote,omitempty"`   // normalised "host/path" of the origin, no credentials
}
