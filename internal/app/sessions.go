package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/project"
	"strandline/internal/usage"
)

// Session is a session in a list.
type Session struct {
	ID      string `json:"session"`
	Handle  string `json:"handle"`
	Project string `json:"project"`
	// ProjectName is the name of the project, and of the work tree, for display.
	ProjectName string `json:"project_name,omitempty"`
	archive.Session
}

// newSession completes the title of a session that began with a slash command, which
// many have in common, by its branch.
func newSession(s archive.Session) Session {
	if strings.HasPrefix(s.Title, "/") && s.GitBranch != "" && s.GitBranch != "main" && s.GitBranch != "master" {
		s.Title = s.GitBranch + " · " + s.Title
	}
	s.Turns -= s.Retold
	return Session{ID: s.ID, Handle: archive.ShortID(s.ID), Project: ProjectPath(s.Project), ProjectName: s.Project.Title(), Session: s}
}

// SessionsQuery selects sessions.
type SessionsQuery struct {
	Scope
	Parent string // only the children of this session
	Agents bool   // include sub-agents' sessions
	Since  time.Time
	Limit  int // 0: no limit
}

// Sessions lists sessions, newest first.
func (a *App) Sessions(ctx context.Context, q SessionsQuery) ([]Session, error) {
	return read(ctx, a, func(x Archive) ([]Session, error) {
		f := archive.SessionFilter{Agents: q.Agents, Clients: q.Clients, Since: q.Since, Limit: q.Limit, Retold: true}
		var err error
		if f.Projects, err = a.keys(ctx, x, q.Scope); err != nil {
			return nil, err
		}
		if q.Parent != "" {
			f.Agents = true
			if _, f.Parent, err = resolveSession(ctx, x.Index, q.Parent); err != nil {
				return nil, err
			}
		}
		list, err := x.Index.Sessions(ctx, f)
		return archive.Convert(list, newSession), err
	})
}

// recently is how long ago an active session was written to.
const recently = 30 * time.Minute

// Recent lists the sessions that were written to in the last 30 minutes, with
// sub-agents', or the session that is named.
func (a *App) Recent(ctx context.Context, session string) ([]Session, error) {
	return read(ctx, a, func(x Archive) ([]Session, error) {
		if session != "" {
			info, err := a.session(ctx, x, session)
			return []Session{newSession(info)}, err
		}
		list, err := x.Index.Sessions(ctx, archive.SessionFilter{Agents: true, Since: a.Now().Add(-recently)})
		return archive.Convert(list, newSession), err
	})
}

// Running is an active session with the use of its context window. Figures are 0
// if unknown.
type Running struct {
	Session   string    `json:"session"`
	Handle    string    `json:"handle"`
	Project   string    `json:"project"`
	Name      string    `json:"project_name"` // for display
	Title     string    `json:"title"`
	Model     string    `json:"model,omitempty"`
	Turns     int       `json:"turns"`
	Last      time.Time `json:"last"`
	Tokens    int64     `json:"tokens"`
	Estimated bool      `json:"estimated,omitempty"`
	Window    int64     `json:"window"`
	Share     float64   `json:"share"` // of the window, from 0 to 1
	Zone      string    `json:"zone,omitempty"`
	Growth    int64     `json:"growth"` // tokens per turn
	// Next is where the client compacts, or stops sending if Compacts is false.
	Next      int64         `json:"next"`
	Compacts  bool          `json:"compacts"`
	TurnsLeft *int          `json:"turns_left"` // until Next; null if unknown
	History   []usage.Point `json:"history"`
	// Working means that the session waits for a tool or a response, not for the user.
	Working bool `json:"working"`
}

func newRunning(s archive.Session, u usage.Session) Running {
	out := Running{
		Session: s.ID, Handle: archive.ShortID(s.ID), Project: ProjectPath(s.Project), Name: s.Project.Title(), Title: s.Title, Model: s.Model, Turns: s.Turns, Last: s.Last,
		Tokens: u.LastTokenEstimate, Estimated: u.Estimated, Window: u.Window, Share: *rounded(u.LastPercentage), Zone: u.Zone,
		Growth: u.Growth, Next: u.Limit, Compacts: u.Compacts, History: append([]usage.Point{}, u.History...),
	}
	if n, ok := usage.TurnsLeft(u.LastTokenEstimate, u.Limit, u.Growth); ok {
		out.TurnsLeft = &n
	}
	return out
}

// Running lists the main sessions that were written to in the last 30 minutes.
func (a *App) Running(ctx context.Context) ([]Running, error) {
	return read(ctx, a, func(x Archive) ([]Running, error) {
		list, err := x.Index.Sessions(ctx, archive.SessionFilter{Since: a.Now().Add(-recently)})
		out := make([]Running, 0, len(list))
		for _, s := range list {
			known, _ := usage.Store{Dir: x.Config.Paths.State()}.Session(s.ID) // without it the figures are 0
			one := newRunning(s, known)
			last, err := readRows(ctx, x, archive.Span{Session: s.ID, TurnFrom: max(s.Turns-1, 0), TurnTo: s.Turns})
			if err != nil {
				return nil, err
			}
			one.Working = isWorking(s.Last, a.Now(), last.steps, last.calls)
			out = append(out, one)
		}
		return out, err
	})
}

// Stamp changes whenever the index is written. It costs two calls of stat.
func (a *App) Stamp() (stamp string) {
	w, err := a.Workspace()
	if err != nil {
		return ""
	}
	for _, path := range []string{w.Config.Paths.Index(), w.Config.Paths.Index() + "-wal"} {
		if info, err := os.Stat(path); err == nil {
			stamp += fmt.Sprintf("%d %d ", info.Size(), info.ModTime().UnixNano())
		}
	}
	return stamp
}

// Project is a project with its totals. Those of the keys in Aliases, which were
// merged into this project, are included.
type Project struct {
	Key    string `json:"key"`
	Name   string `json:"name,omitempty"`
	Root   string `json:"root,omitempty"`
	Remote string `json:"remote,omitempty"`
	// Label is the name for display. Tree is the name of a work tree that
	// is listed after its repository.
	Label string `json:"label"`
	Tree  string `json:"tree,omitempty"`
	archive.ProjectSummary
}

func newProject(p archive.ProjectSummary) Project {
	p.Aliases = append([]string{}, p.Aliases...)
	return Project{Key: p.Project.Key, Name: p.Project.Name, Root: p.Project.Root, Remote: p.Project.Remote, Label: p.Project.Title(), ProjectSummary: p}
}

// ProjectPath is a project's folder, or its key if the folder is unknown.
func ProjectPath(p archive.Project) string { return cmp.Or(p.Root, p.Key) }

// Projects lists the projects, the last used first, each followed by its work trees.
func (a *App) Projects(ctx context.Context) ([]Project, error) {
	return read(ctx, a, func(x Archive) ([]Project, error) {
		list, err := x.Index.Projects(ctx)
		return nestTrees(archive.Convert(list, newProject)), err
	})
}

// nestTrees moves work trees after the project of their repository, if that is listed.
func nestTrees(list []Project) (out []Project) {
	trees := map[string][]Project{} // by the repository's folder
	roots := map[string]bool{}
	for _, p := range list {
		roots[p.Root] = true
	}
	for _, p := range list {
		if repository, tree, ok := archive.WorktreeOf(p.Root); ok && roots[repository] {
			p.Tree = tree
			trees[repository] = append(trees[repository], p)
		}
	}
	for _, p := range list {
		if repository, _, ok := archive.WorktreeOf(p.Root); !ok || !roots[repository] {
			out = append(append(out, p), trees[p.Root]...)
		}
	}
	return append([]Project{}, out...)
}

// Merged is a merge of two projects.
type Merged struct {
	From, Into archive.Project
	Sessions   int
}

// MergeProjects assigns the sessions of one project to another, for a folder that
// was moved. from and into are folders or project keys.
func (a *App) MergeProjects(ctx context.Context, from, into string) (m Merged, err error) {
	err = a.withArchive(ctx, ReadWrite, func(x Archive) error {
		list, err := x.Index.Projects(ctx)
		if err != nil {
			return err
		}
		old, ok := a.findProject(list, from)
		if !ok {
			return archive.NotFound(fmt.Sprintf("no sessions of %q are kept", from), "`strandline projects` lists the projects")
		}
		target, ok := a.findProject(list, into)
		if !ok { // a folder without sessions yet
			if _, err := os.Stat(a.Abs(into)); err != nil {
				return archive.NotFound(fmt.Sprintf("%q is neither a folder nor a project", into), "`strandline projects` lists the projects")
			}
			target.Project = x.Capture.Project(a.Abs(into))
		}
		m = Merged{old.Project, target.Project, old.Sessions}
		if m.From.Key == m.Into.Key {
			return archive.Invalid("both are the same project", "")
		}
		if err := x.Journal.Record(ctx, archive.JournalMerge, "", archive.MergeFact{From: m.From.Key, Into: m.Into.Key}); err != nil {
			return err
		}
		return x.Journal.Sync(ctx, x.Index)
	})
	return m, err
}

// SplitProject takes back the merge of a project into another, also one that was made
// automatically. from is the folder or key that was merged.
func (a *App) SplitProject(ctx context.Context, from string) (m Merged, err error) {
	err = a.withArchive(ctx, ReadWrite, func(x Archive) error {
		list, err := x.Index.Projects(ctx)
		if err != nil {
			return err
		}
		path := a.Abs(from)
		for _, p := range list {
			for _, key := range p.Aliases {
				if key == from || key == archive.FolderKey(path) || archive.RepositoryFolder(key) == path {
					m.From.Key, m.Into = key, p.Project
				}
			}
		}
		if m.From.Key == "" {
			return archive.NotFound(fmt.Sprintf("no project of %q was merged into another", from), "`strandline projects --json` lists merged keys as aliases")
		}
		if err := x.Journal.Record(ctx, archive.JournalMerge, "", archive.MergeFact{From: m.From.Key, Into: m.From.Key}); err != nil {
			return err
		}
		if err := x.Journal.Sync(ctx, x.Index); err != nil {
			return err
		}
		own, err := x.Index.Sessions(ctx, archive.SessionFilter{Projects: []string{m.From.Key}})
		m.Sessions = len(own)
		if len(own) > 0 {
			m.From = own[0].Project
		}
		return err
	})
	return m, err
}

// mergeMoved assigns the sessions of moved and cloned repositories to their present
// projects, and returns how many projects it merged. Projects with a key in elsewhere are
// clones on another machine, which may be in use at the same time.
func (a *App) mergeMoved(ctx context.Context, x Archive, elsewhere map[string]bool) (n int, err error) {
	list, err := x.Index.Projects(ctx)
	if err != nil {
		return 0, err
	}
	for i := range list {
		if elsewhere[list[i].Project.Key] {
			list[i].Last = time.Time{}
		}
	}
	for _, m := range project.Moves(list, mayExist) {
		if err := x.Journal.Record(ctx, archive.JournalMerge, "", archive.MergeFact{From: m.From.Key, Into: m.Into.Key}); err != nil {
			return n, err
		}
		n++
	}
	if n == 0 {
		return 0, nil
	}
	return n, x.Journal.Sync(ctx, x.Index)
}

// mayExist reports whether a file exists or cannot be looked at.
func mayExist(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// findProject finds the project of a folder or key. A folder that no longer exists
// is found by its former path.
func (a *App) findProject(list []archive.ProjectSummary, typed string) (archive.ProjectSummary, bool) {
	path := a.Abs(typed)
	for _, p := range list {
		if p.Project.Key == typed || p.Project.Root == path || p.Project.Worktree == path {
			return p, true
		}
	}
	return archive.ProjectSummary{}, false
}

// CurrentProject is the project of the working directory.
type CurrentProject struct {
	Name     string // or its key
	Archived bool   // it has archived sessions
	Sessions int    // in all projects
}

// CurrentProject returns the project of the working directory.
func (a *App) CurrentProject(ctx context.Context) (CurrentProject, error) {
	return read(ctx, a, func(x Archive) (CurrentProject, error) {
		totals, err := x.Index.Totals(ctx)
		if err != nil {
			return CurrentProject{}, err
		}
		p := x.Capture.Project(a.ProjectDir())
		own, err := x.Index.Sessions(ctx, archive.SessionFilter{Projects: []string{p.Key}, Limit: 1})
		return CurrentProject{Name: cmp.Or(p.Name, p.Key), Archived: len(own) > 0, Sessions: totals.Sessions}, err
	})
}
