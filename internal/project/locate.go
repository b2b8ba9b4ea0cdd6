package project

import (
	"os"
	"path/filepath"
	"strings"

	"strandline/internal/state"
)

// Limits on the bytes read of git's files; git writes far less.
const (
	maxPointer = 4 << 10   // of a .git or commondir file
	maxConfig  = 256 << 10 // of a config file
)

// repository is the git repository of a folder. Its paths are absolute and have no
// symbolic links.
type repository struct {
	common string // git folder that all work trees share
	top    string // root of the work tree, "" in a bare repository
	linked bool   // top is a linked work tree
}

// locate finds the repository of dir in dir or its nearest parent, as git does.
func locate(dir string) (repository, bool) {
	for {
		r, ok := at(dir)
		parent := filepath.Dir(dir)
		if ok || parent == dir {
			return r, ok
		}
		dir = parent
	}
}

// at returns the repository of a .git folder in dir, of a .git file in dir that
// names one, or of dir itself if it is a git folder.
func at(dir string) (repository, bool) {
	dotGit := filepath.Join(dir, ".git")
	find := follow
	if info, err := os.Stat(dotGit); err == nil && info.IsDir() {
		find = func(path string) (repository, bool) { return open(resolve(path)) }
	}
	if r, ok := find(dotGit); ok {
		r.top = dir
		return r, true
	}
	return open(dir)
}

// follow opens the repository that a .git file names. For a linked work tree whose
// entry was pruned it derives the repository from the path.
func follow(dotGit string) (repository, bool) {
	target, ok := strings.CutPrefix(firstLine(dotGit), "gitdir:")
	if !ok {
		return repository{}, false
	}
	gitDir := resolve(join(filepath.Dir(dotGit), strings.TrimSpace(target)))
	if r, ok := open(gitDir); ok {
		return r, true
	}
	if trees := filepath.Dir(gitDir); filepath.Base(trees) == "worktrees" {
		common := resolve(filepath.Dir(trees))
		return repository{common: common, linked: true}, isGitDir(common)
	}
	return repository{}, false
}

// open returns the repository of a git folder, which is the common one or that of a
// linked work tree.
func open(gitDir string) (repository, bool) {
	if !isFile(filepath.Join(gitDir, "HEAD")) {
		return repository{}, false
	}
	if shared := firstLine(filepath.Join(gitDir, "commondir")); shared != "" {
		common := resolve(join(gitDir, shared))
		return repository{common: common, linked: true}, isGitDir(common)
	}
	return repository{common: gitDir}, isGitDir(gitDir)
}

// mainRoot returns the main work tree, or the git folder of a bare repository.
// Submodules have a configured work tree.
func (r repository) mainRoot(configured string) string {
	switch {
	case configured != "":
		return resolve(join(r.common, configured))
	case filepath.Base(r.common) == ".git":
		return filepath.Dir(r.common)
	case r.top != "" && !r.linked: // git init --separate-git-dir
		return r.top
	}
	return r.common
}

// isGitDir reports whether dir has the files that every git folder has. The place
// of refs depends on the repository's format.
func isGitDir(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "objects"))
	return err == nil && info.IsDir() && isFile(filepath.Join(dir, "HEAD"))
}

func isFile(path string) bool {
	// HEAD may be a symbolic link to a branch without a commit.
	info, err := os.Lstat(path)
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeSymlink != 0)
}

// join returns path relative to base; git writes slashes on every system.
func join(base, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// resolve follows symbolic links. It returns a missing path unchanged.
func resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

func firstLine(path string) string {
	line, _, _ := strings.Cut(readHead(path, maxPointer), "\n")
	return strings.TrimSpace(line)
}

// readHead returns up to limit bytes of a regular file, "" on an error.
func readHead(path string, limit int64) string {
	data, _ := state.ReadRegular(path, limit)
	return string(data)
}
