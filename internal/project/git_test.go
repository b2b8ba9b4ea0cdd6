package project_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/project"
)

// gitRunner returns a function that runs git in a folder without the user's
// settings.
func gitRunner(t *testing.T) func(dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed; TestHandMadeLayouts covers the same layouts")
	}
	home := t.TempDir()
	return func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
			"GIT_ALLOW_PROTOCOL=file",
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// TestRealRepositories uses layouts that git creates.
func TestRealRepositories(t *testing.T) {
	git := gitRunner(t)
	base := tempDir(t)
	at := func(elements ...string) string { return filepath.Join(append([]string{base}, elements...)...) }

	git(base, "init", "-q", "lib")
	git(at("lib"), "commit", "-q", "--allow-empty", "-m", "x")
	git(base, "init", "-q", "app")
	git(at("app"), "commit", "-q", "--allow-empty", "-m", "x")
	git(at("app"), "remote", "add", "upstream", "https://other.example/x.git")
	git(at("app"), "remote", "add", "origin", "https://ann:s3cret@Example.com:8443/team/app.git")
	git(at("app"), "worktree", "add", "-q", "../fix", "-b", "fix")
	git(at("app"), "worktree", "add", "-q", ".worktrees/inner", "-b", "inner")
	git(at("app"), "submodule", "--quiet", "add", at("lib"), "vendor/lib")
	git(base, "clone", "-q", "--bare", "app", "mirror.git")
	git(at("mirror.git"), "worktree", "add", "-q", "../tree", "fix")
	git(base, "init", "-q", "--separate-git-dir", at("hidden.git"), "apart")

	app := archive.Project{Key: "git:" + at("app", ".git"), Name: "app", Root: at("app"), Remote: "example.com/team/app"}
	in := func(p archive.Project, worktree string) archive.Project {
		p.Worktree = worktree
		return p
	}
	mirror := archive.Project{
		Key: "git:" + at("mirror.git"), Name: "mirror", Root: at("mirror.git"),
		Remote: filepath.ToSlash(at("app")),
	}
	for dir, want := range map[string]archive.Project{
		at("app"):                        app,
		at("app", "vendor"):              app,
		at("fix"):                        in(app, at("fix")),
		at("app", ".worktrees", "inner"): in(app, at("app", ".worktrees", "inner")),
		at("app", ".worktrees", "gone"):  app,
		at("app", "deleted", "package"):  app,
		at("app", "vendor", "lib"): {
			Key: "git:" + at("app", ".git", "modules", "vendor", "lib"), Name: "lib",
			Root: at("app", "vendor", "lib"), Remote: filepath.ToSlash(at("lib")),
		},
		at("mirror.git"): mirror,
		at("tree"):       in(mirror, at("tree")),
		at("apart"):      {Key: "git:" + at("hidden.git"), Name: "apart", Root: at("apart")},
	} {
		if got := project.Identify(dir); got != want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", dir, got, want)
		}
	}
}

// TestMovedRepository moves a whole repository.
func TestMovedRepository(t *testing.T) {
	git := gitRunner(t)
	base := tempDir(t)
	git(base, "init", "-q", "old")
	git(filepath.Join(base, "old"), "remote", "add", "origin", "git@example.com:team/app.git")
	before := project.Identify(filepath.Join(base, "old"))
	if err := os.Rename(filepath.Join(base, "old"), filepath.Join(base, "new")); err != nil {
		t.Fatal(err)
	}
	after := project.Identify(filepath.Join(base, "new"))
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	if got := project.Moves([]archive.ProjectSummary{{Project: before}, {Project: after}}, exists); len(got) != 1 || got[0] != (project.Move{From: before, Into: after}) {
		t.Errorf("got %+v", got)
	}
}
