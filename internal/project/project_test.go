package project_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/project"
)

// tempDir returns a new folder whose path has no symbolic link.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// write creates a file and its parent folders and returns its path.
func write(t testing.TB, text string, elements ...string) string {
	t.Helper()
	path := filepath.Join(elements...)
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mkdir(t testing.TB, elements ...string) string {
	t.Helper()
	path := filepath.Join(elements...)
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// gitDir creates a minimal git folder.
func gitDir(t testing.TB, config string, elements ...string) string {
	t.Helper()
	dir := filepath.Join(elements...)
	write(t, "ref: refs/heads/main\n", dir, "HEAD")
	write(t, config, dir, "config")
	mkdir(t, dir, "objects")
	mkdir(t, dir, "refs")
	return dir
}

const origin = "[remote \"origin\"]\n\turl = git@example.com:team/app.git\n"

func TestOutsideARepository(t *testing.T) {
	base := tempDir(t)
	plain := mkdir(t, base, "notes")
	gone := filepath.Join(base, "gone", "deep")
	for _, tc := range []struct{ name, dir, root, last string }{
		{"a folder", plain, plain, "notes"},
		{"a folder with a trailing slash", plain + string(filepath.Separator), plain, "notes"},
		{"a folder that is gone", gone, gone, "deep"},
		{"a missing path that is not clean", gone + "//x/..", gone, "deep"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := archive.Project{Key: "dir:" + tc.root, Name: tc.last, Root: tc.root}
			if got := project.Identify(tc.dir); got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestEmptyFolderNameHasNoProject(t *testing.T) {
	if got := project.Identify(""); got != (archive.Project{}) {
		t.Errorf("got %+v", got)
	}
}

func TestWindowsPathsOnOtherSystems(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("these paths are native here")
	}
	for _, tc := range []struct{ dir, root, name string }{
		{`C:\Users\Ann\app`, `C:\Users\Ann\app`, "app"},
		{`c:\Users\Ann\app\`, `C:\Users\Ann\app`, "app"},
		{`D:/src/app`, `D:/src/app`, "app"},
		{`\\server\share\app`, `\\server\share\app`, "app"},
		{`C:\`, `C:\`, "C:"},
	} {
		want := archive.Project{Key: "dir:" + tc.root, Name: tc.name, Root: tc.root}
		if got := project.Identify(tc.dir); got != want {
			t.Errorf("%s: got %+v, want %+v", tc.dir, got, want)
		}
	}
}

func TestHandMadeLayouts(t *testing.T) {
	for _, tc := range []struct {
		name string
		// build makes a layout under base and returns the folder to ask about and
		// the project to find.
		build func(t *testing.T, base string) (string, archive.Project)
	}{
		{"the root of a repository", func(t *testing.T, base string) (string, archive.Project) {
			git := gitDir(t, origin, base, "app", ".git")
			return filepath.Dir(git), archive.Project{
				Key: "git:" + git, Name: "app", Root: filepath.Dir(git), Remote: "example.com/team/app",
			}
		}},
		{"a folder deep in a repository without a remote", func(t *testing.T, base string) (string, archive.Project) {
			git := gitDir(t, "", base, "app", ".git")
			return mkdir(t, base, "app", "a", "b"), archive.Project{Key: "git:" + git, Name: "app", Root: filepath.Dir(git)}
		}},
		{"the git folder itself", func(t *testing.T, base string) (string, archive.Project) {
			git := gitDir(t, "", base, "app", ".git")
			return filepath.Join(git, "refs"), archive.Project{Key: "git:" + git, Name: "app", Root: filepath.Dir(git)}
		}},
		{"a file in place of a folder", func(t *testing.T, base string) (string, archive.Project) {
			git := gitDir(t, "", base, "app", ".git")
			return write(t, "", base, "app", "main.go"), archive.Project{Key: "git:" + git, Name: "app", Root: filepath.Dir(git)}
		}},
		{"a linked work tree", func(t *testing.T, base string) (string, archive.Project) {
			git := gitDir(t, origin, base, "app", ".git")
			entry := filepath.Join(git, "worktrees", "fix")
			write(t, "ref: refs/heads/fix\n", entry, "HEAD")
			write(t, "../..\n", entry, "commondir")
			tree := filepath.Dir(write(t, "gitdir: "+filepath.ToSlash(entry)+"\n", base, "fix", ".git"))
			return tree, archive.Project{
				Key: "git:" + git, Name: "app", Root: filepath.Dir(git), Worktree: tree, Remote: "example.com/team/app",
			}
		}},
		{"a linked work tree whose entry was pruned", func(t *testing.T, base string) (string, archive.Project) {
			git := gitDir(t, "", base, "app", ".git")
			tree := filepath.Dir(write(t, "gitdir: ../app/.git/worktrees/fix\r\n", base, "fix", ".git"))
			return tree, archive.Project{Key: "git:" + git, Name: "app", Root: filepath.Dir(git), Worktree: tree}
		}},
		{"a linked work tree of a bare repository in a hidden folder", func(t *testing.T, base string) (string, archive.Project) {
			git := gitDir(t, "[core]\nbare = true\n", base, "app", ".bare")
			entry := filepath.Join(git, "worktrees", "main")
			write(t, "ref: refs/heads/main\n", entry, "HEAD")
			write(t, git, entry, "commondir")
			tree := filepath.Dir(write(t, "gitdir: "+entry, base, "app", "main", ".git"))
			return tree, archive.Project{Key: "git:" + git, Name: "app", Root: git, Worktree: tree}
		}},
		{"a submodule", func(t *testing.T, base string) (string, archive.Project) {
			gitDir(t, origin, base, "app", ".git")
			git := gitDir(t, "[core]\n\tworktree = ../../../lib\n", base, "app", ".git", "modules", "lib")
			tree := filepath.Dir(write(t, "gitdir: ../.git/modules/lib\n", base, "app", "lib", ".git"))
			return tree, archive.Project{Key: "git:" + git, Name: "lib", Root: tree}
		}},
		{"a git folder kept apart", func(t *testing.T, base string) (string, archive.Project) {
			git := gitDir(t, "", base, "elsewhere.git")
			tree := filepath.Dir(write(t, "gitdir: "+git+"\n", base, "app", ".git"))
			return tree, archive.Project{Key: "git:" + git, Name: "app", Root: tree}
		}},
		{"a bare repository", func(t *testing.T, base string) (string, archive.Project) {
			git := gitDir(t, "[core]\nbare = true\n", base, "app.git")
			return git, archive.Project{Key: "git:" + git, Name: "app", Root: git}
		}},
		{"an empty .git folder in a repository counts for nothing", func(t *testing.T, base string) (string, archive.Project) {
			git := gitDir(t, "", base, "app", ".git")
			mkdir(t, base, "app", "sub", ".git")
			return filepath.Join(base, "app", "sub"), archive.Project{Key: "git:" + git, Name: "app", Root: filepath.Dir(git)}
		}},
		{"a .git file that is none", func(t *testing.T, base string) (string, archive.Project) {
			dir := filepath.Dir(write(t, "hello", base, "app", ".git"))
			return dir, archive.Project{Key: "dir:" + dir, Name: "app", Root: dir}
		}},
		{"a .git file that points nowhere", func(t *testing.T, base string) (string, archive.Project) {
			dir := filepath.Dir(write(t, "gitdir: /no/such/place", base, "app", ".git"))
			return dir, archive.Project{Key: "dir:" + dir, Name: "app", Root: dir}
		}},
		{"a huge .git file", func(t *testing.T, base string) (string, archive.Project) {
			dir := filepath.Dir(write(t, "gitdir: "+strings.Repeat("x", 1<<20), base, "app", ".git"))
			return dir, archive.Project{Key: "dir:" + dir, Name: "app", Root: dir}
		}},
		{"a huge config", func(t *testing.T, base string) (string, archive.Project) {
			git := gitDir(t, origin+strings.Repeat("[core]\nx = y\n", 1<<17), base, "app", ".git")
			return filepath.Dir(git), archive.Project{
				Key: "git:" + git, Name: "app", Root: filepath.Dir(git), Remote: "example.com/team/app",
			}
		}},
		{"a config that is a folder", func(t *testing.T, base string) (string, archive.Project) {
			git := gitDir(t, "", base, "app", ".git")
			if err := os.Remove(filepath.Join(git, "config")); err != nil {
				t.Fatal(err)
			}
			mkdir(t, git, "config")
			return filepath.Dir(git), archive.Project{Key: "git:" + git, Name: "app", Root: filepath.Dir(git)}
		}},
		{"a commondir that points nowhere", func(t *testing.T, base string) (string, archive.Project) {
			git := gitDir(t, "", base, "app", ".git")
			write(t, "../gone", git, "commondir")
			dir := filepath.Dir(git)
			return dir, archive.Project{Key: "dir:" + dir, Name: "app", Root: dir}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, want := tc.build(t, tempDir(t))
			if got := project.Identify(dir); got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestSymbolicLinksAreResolved(t *testing.T) {
	base := tempDir(t)
	git := gitDir(t, "", base, "app", ".git")
	sub := mkdir(t, base, "app", "sub")
	plain := mkdir(t, base, "plain")
	for link, target := range map[string]string{"l1": filepath.Dir(git), "l2": sub, "l3": plain, "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(base, link)); err != nil {
			t.Skipf("symbolic links are not available: %v", err)
		}
	}
	loop := filepath.Join(base, "loop")
	for dir, key := range map[string]string{
		filepath.Join(base, "l1"):        "git:" + git,
		filepath.Join(base, "l1", "sub"): "git:" + git,
		filepath.Join(base, "l2"):        "git:" + git,
		filepath.Join(base, "l3"):        "dir:" + plain,
		loop:                             "dir:" + loop,
	} {
		if got := project.Identify(dir).Key; got != key {
			t.Errorf("%s: got %s, want %s", dir, got, key)
		}
	}
}

func TestRelativeFolder(t *testing.T) {
	base := tempDir(t)
	git := gitDir(t, "", base, "app", ".git")
	t.Chdir(filepath.Dir(git))
	if got, want := project.Identify(".").Key, "git:"+git; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEnvironmentIsIgnored(t *testing.T) {
	base := tempDir(t)
	git := gitDir(t, "", base, "app", ".git")
	other := gitDir(t, "", base, "other", ".git")
	t.Setenv("GIT_DIR", other)
	t.Setenv("GIT_WORK_TREE", base)
	if got, want := project.Identify(filepath.Dir(git)).Key, "git:"+git; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func BenchmarkIdentify(b *testing.B) {
	base := tempDir(b)
	gitDir(b, origin, base, "app", ".git")
	deep := mkdir(b, base, "app", "a", "b", "c", "d", "e")
	plain := mkdir(b, base, "plain", "a", "b", "c", "d", "e")
	for name, dir := range map[string]string{"repository": deep, "folder": plain} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				project.Identify(dir)
			}
		})
	}
}
