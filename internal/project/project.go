// Package project says which project a folder belongs to. It reads a handful of
// small files and starts no process, because every hook asks.
package project

import (
	"path/filepath"
	"strings"

	"strandline/internal/archive"
)

const (
	gitKey = "git:"
	dirKey = "dir:"
)

// Identify returns the project that dir belongs to; it never fails. Symbolic
// links are resolved, so two names of one folder are one project.
//
// Inside a git repository the project is the repository: every linked work tree
// shares its key, a submodule is a project of its own, and what a person sees is
// the main work tree. Elsewhere, and for a folder that is gone, the project is
// the folder itself. A path of another system ("C:\src" on Linux, as an imported
// transcript may hold it) is taken as it is written. An empty dir gives the zero
// Project.
//
// The environment is not consulted: GIT_DIR describes the process that has it,
// not the folder that is asked about.
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
	if err != nil {
		return folder(abs)
	}
	if repo, ok := locate(resolved); ok {
		return repo.project()
	}
	return folder(resolved)
}

// folder returns the project that is path and nothing more. Windows has two
// spellings of a drive, and clients use both.
func folder(path string) archive.Project {
	if hasDrive(path) {
		path = strings.ToUpper(path[:1]) + path[1:]
	}
	if trimmed := strings.TrimRight(path, separators(path)); len(trimmed) > len("C:") {
		path = trimmed
	}
	return archive.Project{Key: dirKey + path, Name: lastElement(path), Root: path}
}

// project describes the repository for the archive.
func (r repository) project() archive.Project {
	conf := readConfig(filepath.Join(r.common, "config"))
	root := r.mainRoot(conf.worktree)
	p := archive.Project{
		Key:    gitKey + r.common,
		Name:   name(root),
		Root:   root,
		Remote: normalizeRemote(conf.originURL),
	}
	if r.linked {
		p.Worktree = r.top
	}
	return p
}

// name returns what people call the repository at root: "app" for "/src/app",
// "/srv/app.git" and for the bare "/src/app/.bare" that linked work trees hang on.
func name(root string) string {
	last := strings.TrimSuffix(lastElement(root), ".git")
	if last == "" || last[0] == '.' {
		if parent := lastElement(filepath.Dir(root)); parent != "" {
			return parent
		}
	}
	return last
}

// lastElement returns the last element of a path of this or another system, and
// a root as it is.
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
	return len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') &&
		('a' <= path[0]|0x20 && path[0]|0x20 <= 'z')
}
