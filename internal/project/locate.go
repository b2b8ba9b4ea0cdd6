package project

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Limits on what is read. Git itself writes far less; a file that is longer is
// read up to the limit.
const (
	maxPointer = 4 << 10   // bytes of a .git or commondir file
	maxConfig  = 256 << 10 // bytes of a config file
)

// repository is a git repository as found from a folder inside it. Its paths are
// absolute and free of symbolic links.
type repository struct {
	common string // what all work trees share: objects, refs, config
	top    string // root of the work tree that was found, empty in a bare repository
	linked bool   // top is a linked work tree
}

// locate walks up from dir, as git does, to the first folder that is a
// repository or holds one.
func locate(dir string) (repository, bool) {
	for {
		if r, ok := at(dir); ok {
			return r, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return repository{}, false
		}
		dir = parent
	}
}

// at looks for a repository in dir: a .git folder, a .git file that points at
// one, or dir itself being a git folder.
func at(dir string) (repository, bool) {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Stat(dotGit)
	switch {
	case err == nil && info.IsDir():
		if r, ok := open(resolve(dotGit)); ok {
			r.top = dir
			return r, true
		}
	case err == nil && info.Mode().IsRegular():
		if r, ok := follow(dotGit); ok {
			r.top = dir
			return r, true
		}
	}
	if isFile(filepath.Join(dir, "HEAD")) {
		return open(dir)
	}
	return repository{}, false
}

// follow opens the repository that a .git file names. A linked work tree whose
// entry was pruned still tells its repository by the shape of the path.
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

// open reads a git folder, which is the common one itself or that of a linked
// work tree.
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

// mainRoot returns the main work tree, or the git folder of a repository that
// has none. The configured work tree is that of a submodule.
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

// isGitDir reports whether dir holds what git demands of a repository. Where
// refs are kept differs between its formats, so they are not asked for.
func isGitDir(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "objects"))
	return err == nil && info.IsDir() && isFile(filepath.Join(dir, "HEAD"))
}

func isFile(path string) bool {
	// HEAD may be a symbolic link to a branch that has no commit yet.
	info, err := os.Lstat(path)
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeSymlink != 0)
}

// join makes path absolute against base; git writes slashes on every system.
func join(base, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// resolve follows symbolic links; a path that does not exist stays as it is.
func resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

func firstLine(path string) string {
	line, _, _ := strings.Cut(string(readHead(path, maxPointer)), "\n")
	return strings.TrimSpace(line)
}

// readHead returns up to limit bytes of a regular file, nil if there is none or
// it cannot be read. Anything else is not opened: a FIFO would block.
func readHead(path string, limit int64) []byte {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil
	}
	return data
}
