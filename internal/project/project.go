// Package project finds the project that a folder belongs to, and the uncommitted
// changes of its work tree. Identify runs in every hook: it reads a few small files
// and starts no process.
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

// Identify returns the project that dir belongs to, with symbolic links resolved.
// It never fails.
//
// Inside a git repository the project is the repository: linked work trees share
// its key, its root is the main work tree, and a submodule is a separate project.
// Elsewhere, and for a missing folder, the project is the folder. An absolute path
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
	if err != nil {
		return folder(abs)
	}
	if repo, ok := locate(resolved); ok {
		return repo.project()
	}
	return folder(resolved)
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
	return archive.Project{Key: dirKey + path, Name: lastElement(path), Root: path}
}

// project returns the repository as a project.
func (r repository) project() archive.Project {
	conf := parseConfig(readHead(filepath.Join(r.common, "config"), maxConfig))
	root := r.mainRoot(conf.worktree)
	p := archive.Project{Key: gitKey + r.common, Name: name(root), Root: root, Remote: normalizeRemote(conf.originURL)}
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

// MovedFrom returns the known project that p was before its folder was moved or
// cloned again: the one with the same remote whose folders no longer exist. Of
// several it returns the one with the same name, if there is exactly one. Call it
// when p is seen for the first time: a p in known was not moved.
func MovedFrom(p archive.Project, known []archive.Project, exists func(path string) bool) (archive.Project, bool) {
	if p.Remote == "" {
		return archive.Project{}, false
	}
	var gone, namesake []archive.Project
	for _, k := range known {
		if k.Key == p.Key {
			return archive.Project{}, false
		}
		if k.Remote != p.Remote || exists(k.Root) || exists(strings.TrimPrefix(k.Key, gitKey)) {
			continue
		}
		gone = append(gone, k)
		if k.Name == p.Name {
			namesake = append(namesake, k)
		}
	}
	for _, found := range [][]archive.Project{gone, namesake} {
		if len(found) == 1 {
			return found[0], true
		}
	}
	return archive.Project{}, false
}
