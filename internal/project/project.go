// Package project finds the project that a folder belongs to, and the uncommitted
// changes of its work tree. Identify runs in every hook: it reads a few small files
// and starts no process.
package project

import (
	"path/filepath"
	"strings"

	"strandline/internal/archive"
)

// Identify returns the project that dir belongs to, with symbolic links resolved.
// It never fails.
//
// Inside a git repository the project is the repository: linked work trees share
// its key, its root is the main work tree, and a submodule is a separate project. A deleted
// folder, such as that of a work tree, belongs to the repository that it was inside of.
// Elsewhere the project is the folder. An absolute path
// of another system ("C:\src" on Linux, from an imported transcript) stays as it
// is. An empty dir gives the zero Project.
//
// Identify ignores the environment: GIT_DIR describes the current process, not dir.
func Identify(dir string) archive.Project {
	if dir == "" {
		return archive.Project{}
	}
	if foreign(dir) {
		return folder(dir)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return folder(filepath.Clean(dir))
	}
	resolved, err := filepath.EvalSymlinks(abs)
	inside := resolved
	if err != nil {
		resolved, inside = abs, existing(abs)
	}
	if repo, ok := locate(inside); ok {
		return repo.project()
	}
	return folder(resolved)
}

// existing returns dir or its nearest parent that exists, with symbolic links resolved.
func existing(dir string) string {
	for {
		resolved, err := filepath.EvalSymlinks(dir)
		parent := filepath.Dir(dir)
		if err == nil {
			return resolved
		}
		if parent == dir {
			return dir
		}
		dir = parent
	}
}

// folder returns the project of a folder outside any repository. Drive letters
// become upper case, because clients use both.
func folder(path string) archive.Project {
	if hasDrive(path) {
		path = strings.ToUpper(path[:1]) + path[1:]
	}
	if trimmed := strings.TrimRight(path, separators(path)); len(trimmed) > len("C:") {
		path = trimmed
	}
	return archive.Project{Key: archive.FolderKey(path), Name: lastElement(path), Root: path}
}

// project returns the repository as a project.
func (r repository) project() archive.Project {
	conf := parseConfig(readHead(filepath.Join(r.common, "config"), maxConfig))
	root := r.mainRoot(conf.worktree)
	p := archive.Project{Key: archive.RepositoryKey(r.common), Name: name(root), Root: root, Remote: normalizeRemote(conf.originURL)}
	if r.linked {
		p.Worktree = r.top
	}
	return p
}

// name returns the display name of the repository at root: "app" for "/src/app",
// "/srv/app.git" and "/src/app/.bare" (a bare repository with linked work trees).
func name(root string) string {
	last := strings.TrimSuffix(lastElement(root), ".git")
	if last == "" || last[0] == '.' {
		if parent := lastElement(filepath.Dir(root)); parent != "" {
			return parent
		}
	}
	return last
}

// lastElement returns the last element of a path of any system, or the path if it
// is a root.
func lastElement(path string) string {
	trimmed := strings.TrimRight(path, separators(path))
	if trimmed == "" {
		return path
	}
	return trimmed[strings.LastIndexAny(trimmed, separators(path))+1:]
}

func separators(path string) string {
	if filepath.Separator == '\\' || foreign(path) {
		return `/\`
	}
	return "/"
}

// foreign reports whether path is absolute on Windows and this is not Windows.
func foreign(path string) bool {
	return filepath.Separator == '/' && (hasDrive(path) || strings.HasPrefix(path, `\\`))
}

// hasDrive reports whether path starts like "C:\" or "C:/".
func hasDrive(path string) bool {
	return len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') && ('a' <= path[0]|0x20 && path[0]|0x20 <= 'z')
}

// Move is a repository whose folder was moved or cloned again.
type Move struct{ From, Into archive.Project }

// Moves finds the known projects that are another known project now: their folders no
// longer exist, and exactly one existing project has their remote and was first used
// after they were last used. Clones that were used at the same time, such as two
// projects that began as one template, stay separate. So do paths of another system.
func Moves(known []archive.ProjectSummary, exists func(path string) bool) (moves []Move) {
	present := map[string][]archive.ProjectSummary{} // by remote
	var gone []archive.ProjectSummary
	for _, s := range known {
		switch p := s.Project; {
		case s.Split || p.Remote == "" || !filepath.IsAbs(p.Root):
		case exists(p.Root):
			present[p.Remote] = append(present[p.Remote], s)
		case !exists(archive.RepositoryOf(p.Key)): // else only the folder of a work tree was deleted
			gone = append(gone, s)
		}
	}
	for _, s := range gone {
		if now := present[s.Project.Remote]; len(now) == 1 && (now[0].First.IsZero() || now[0].First.After(s.Last)) {
			moves = append(moves, Move{s.Project, now[0].Project})
		}
	}
	return moves
}
