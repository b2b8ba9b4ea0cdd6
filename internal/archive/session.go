package archive

import (
	"strings"
	"time"
)

// Relation is the relation of a session to its parent.
type Relation string

// The relations of a session to its parent session; "" if it has none.
const (
	RelationFork  Relation = "fork"  // a continuation of rows copied from the parent
	RelationAgent Relation = "agent" // a sub-agent's run inside the parent
)

// Session is one conversation of one client in one project. Its JSON is that of a list of
// sessions, without the ID and the project.
type Session struct {
	// ID is the client's ID. A sub-agent's is "<parent ID>~<agent ID>", that of an
	// older generation of a rewritten transcript "<ID>@<generation>".
	ID      string  `json:"-"`
	Project Project `json:"-"`
	Client  string  `json:"client"` // "claude", "codex", ...
	Title   string  `json:"title"`  // first prompt, redacted, one line, at most 120 characters

	Turns int       `json:"turns"` // including dead branches
	Steps int       `json:"steps"` // API responses, each counted once
	Calls int       `json:"calls"` // tool calls
	Bytes int64     `json:"bytes"` // of the transcript that are in the log
	First time.Time `json:"first"` // time of the first dated row, UTC
	Last  time.Time `json:"last"`  // of the last

	Compacts   int      `json:"compactions"`
	Generation int      `json:"generation"`       // 1 if the transcript was never rewritten
	Parent     string   `json:"parent,omitempty"` // ID of the parent session
	Relation   Relation `json:"relation,omitempty"`
	Agent               // set when Relation is RelationAgent
	Model      string   `json:"model,omitempty"`  // of the last main-chain response
	GitBranch  string   `json:"branch,omitempty"` // last branch seen
	Cost                // the client's running totals, zero if it wrote none

	Usage        Usage  `json:"-"` // sums over the session, each API response counted once
	Cwd, Version string `json:"-"` // working directory when the session began; last client version seen
	Lines        int    `json:"-"` // complete lines that are indexed

	// Retold is the number of turns that were copied from this session or another one. It
	// is set on request.
	Retold int `json:"-"`

	// Author and Machine name who pushed the session to a team's archive. They are
	// empty in a local archive.
	Author, Machine string `json:"-"`
}

// Agent describes the sub-agent whose run a session is.
type Agent struct {
	ID          string `json:"-"`
	Type        string `json:"agent_type,omitempty"` // "general-purpose", "Explore" …
	Description string `json:"-"`
}

// Usage counts tokens as the API reported them.
type Usage struct {
	Input      int64 `json:"input_tokens"` // uncached input tokens
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_tokens"`
	CacheWrite int64 `json:"cache_write_tokens"` // cache creation
}

// Context returns the number of tokens in the context window of the response: uncached,
// cache-read and cache-created input together.
func (u Usage) Context() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// Add returns the sum of both usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite}
}

// IsZero reports whether all counts are zero.
func (u Usage) IsZero() bool { return u == Usage{} }

// Cost holds the totals that the client computes for a session.
type Cost struct {
	USD                   float64       `json:"cost_usd,omitempty"`
	APITime, Duration     time.Duration `json:"-"`
	Turns                 int           `json:"-"` // as the client counts them (result rows)
	LinesAdded, LinesGone int           `json:"-"`
}

// Project is the project in which a session ran. Two folders with the same git common
// directory are one project. The remote identifies a folder that was moved.
type Project struct {
	// Key identifies the project: "git:<common dir>" inside a repository,
	// "dir:<folder>" elsewhere, "" if unknown.
	Key      string `json:"key"`
	Name     string `json:"name,omitempty"`     // last element of the root; from an index, what ProjectNames returns
	Root     string `json:"root,omitempty"`     // main work tree or folder
	Worktree string `json:"worktree,omitempty"` // linked work tree, empty in the main one
	Remote   string `json:"remote,omitempty"`   // normalised "host/path" of the origin, no credentials
}

// FolderKey returns the key of a folder outside any repository.
func FolderKey(folder string) string { return "dir:" + folder }

// RepositoryKey returns the key of the repository with a git folder.
func RepositoryKey(gitFolder string) string { return "git:" + gitFolder }

// RepositoryOf returns the git folder of a project's key, "" outside a repository.
func RepositoryOf(key string) string {
	folder, ok := strings.CutPrefix(key, "git:")
	if !ok {
		return ""
	}
	return folder
}

// RepositoryFolder returns the folder whose .git folder a project's key names, "" for
// any other key.
func RepositoryFolder(key string) string {
	folder, ok := strings.CutSuffix(RepositoryOf(key), ".git")
	if n := len(folder) - 1; ok && n > 0 && (folder[n] == '/' || folder[n] == '\\') {
		return folder[:n]
	}
	return ""
}

// OtherClient returns the name of a client, "" for Claude Code, which lists do not name.
func OtherClient(name string) string {
	if name == "claude" {
		return ""
	}
	return name
}
