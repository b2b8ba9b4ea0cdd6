package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

// Scope selects projects. Its zero value is the current project. Dir and Name
// override All.
type Scope struct {
	All  bool
	Name string // name of a project, its folder, or a part of its path; "all" for all
	Dir  string // the project in this folder
	// Clients limits the sessions to those of clients, by name; empty: all.
	Clients []string
}

// projectKeys returns the keys of the projects in scope; nil means all. keyOf
// returns the key that the index uses for the project in a folder.
func (a *App) projectKeys(ctx context.Context, index TeamIndex, s Scope, keyOf func(dir string) string) ([]string, error) {
	switch {
	case s.Dir != "":
		return []string{keyOf(a.Abs(s.Dir))}, nil
	case strings.EqualFold(s.Name, "all"), s.Name == "" && s.All:
		return nil, nil
	case s.Name != "":
		list, err := index.Projects(ctx)
		if err != nil {
			return nil, err
		}
		folder := a.Abs(s.Name)
		key := keyOf(folder)
		if slices.ContainsFunc(list, func(p archive.ProjectSummary) bool { return p.Project.Key == key || slices.Contains(p.Aliases, key) }) {
			return []string{key}, nil
		}
		keys := recall.ProjectsNamed(list, s.Name)
		if info, err := os.Stat(folder); len(keys) == 0 && err == nil && info.IsDir() {
			return []string{key}, nil // without sessions so far
		}
		if len(keys) == 0 {
			names := archive.Convert(list, func(p archive.ProjectSummary) string { return cmp.Or(p.Project.Name, p.Project.Key) })
			return nil, unknownName("project", s.Name, names, "`strandline projects` lists them")
		}
		return keys, nil
	}
	return []string{keyOf(a.ProjectDir())}, nil
}

// branchesNamed returns the git branch called name, or else those that contain it, ignoring
// case.
func branchesNamed(ctx context.Context, index TeamIndex, name string) ([]string, error) {
	sessions, err := index.Sessions(ctx, archive.SessionFilter{Agents: true})
	if err != nil {
		return nil, err
	}
	var all, parts []string
	for _, s := range sessions {
		if s.GitBranch == "" || slices.Contains(all, s.GitBranch) {
			continue
		}
		if s.GitBranch == name {
			return []string{name}, nil
		}
		all = append(all, s.GitBranch)
		if strings.Contains(strings.ToLower(s.GitBranch), strings.ToLower(name)) {
			parts = append(parts, s.GitBranch)
		}
	}
	if len(parts) == 0 {
		return nil, unknownName("branch", name, all, "give a part of a branch's name, such as main")
	}
	return parts, nil
}

// maxCandidates is the number of names that an unknown one is answered with.
const maxCandidates = 5

// unknownName reports that nothing of a kind has a name, and lists the names that are most
// like it, or else the first of all.
func unknownName(kind, name string, all []string, hint string) error {
	distinct := slices.Compact(slices.Sorted(slices.Values(all)))
	near := archive.Select(distinct, func(s string) bool { return recall.Similar(name, s) })
	msg := fmt.Sprintf("no %s is called %q", kind, archive.Clip(name, 60))
	switch {
	case len(near) > 0:
		msg += "; did you mean " + strings.Join(near[:min(maxCandidates, len(near))], ", ") + "?"
	case len(all) > 0:
		slices.SortStableFunc(distinct, func(x, y string) int { return slices.Index(all, x) - slices.Index(all, y) })
		msg += "; there are " + strings.Join(distinct[:min(maxCandidates, len(distinct))], ", ")
		if more := len(distinct) - maxCandidates; more > 0 {
			msg += fmt.Sprintf(" and %d more", more)
		}
	}
	return archive.NotFound(msg, hint)
}

// Abs makes a path absolute, relative to the working directory.
func (a *App) Abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(a.Cwd, path)
}

// ProjectKey returns the key of the project in a folder.
func (w Workspace) ProjectKey(dir string) string { return w.Capture.Project(dir).Key }

// keys is projectKeys for the local index.
func (a *App) keys(ctx context.Context, x Archive, s Scope) ([]string, error) {
	return a.projectKeys(ctx, x.Index, s, x.ProjectKey)
}

// read calls do with the index, open for reading.
func read[T any](ctx context.Context, a *App, do func(x Archive) (T, error)) (out T, err error) {
	err = a.reading(ctx, func(x Archive) (err error) {
		out, err = do(x)
		return err
	})
	return out, err
}

// readSession is read for one session, as a user typed it; "" is the latest session
// of the current project.
func readSession[T any](ctx context.Context, a *App, typed string, do func(x Archive, id string) (T, error)) (T, error) {
	return read(ctx, a, func(x Archive) (out T, err error) {
		id, err := a.sessionOrLatest(ctx, x, typed)
		if err != nil {
			return out, err
		}
		return do(x, id)
	})
}

// session returns a session, as a user typed it; "" is the latest one of the current
// project.
func (a *App) session(ctx context.Context, x Archive, typed string) (archive.Session, error) {
	id, err := a.sessionOrLatest(ctx, x, typed)
	if err != nil {
		return archive.Session{}, err
	}
	return x.Index.Session(ctx, id)
}

// ErrorText returns the message of an error for users, with its innermost cause
// but without the steps in between. The text of a busy error is complete without
// its cause. An error that is not an *archive.Error is returned whole.
func ErrorText(err error) string {
	shown, ok := errors.AsType[*archive.Error](err)
	if !ok {
		return err.Error()
	}
	if shown.Err == nil || shown.Code == archive.CodeBusy {
		return shown.Msg
	}
	cause := innermost(shown.Err).Error()
	if strings.Contains(shown.Msg, cause) {
		return shown.Msg
	}
	return shown.Msg + ": " + cause
}

// innermost returns the first cause of an error; of joined errors, that of the
// first.
func innermost(err error) error {
	if causes := archive.Causes(err); len(causes) > 0 {
		return innermost(causes[0])
	}
	return err
}
