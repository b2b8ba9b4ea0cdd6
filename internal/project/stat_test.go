package project

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// newRepository creates a work tree with one commit.
func newRepository(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "a.txt", "one\ntwo\n")
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "-q", "-m", "Begin")
	return dir
}

func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// systemGit returns the installed git, in an environment that names another repository.
func systemGit(t testing.TB) Git {
	t.Helper()
	g := Find(func(name string) string {
		return map[string]string{"PATH": os.Getenv("PATH"), "GIT_DIR": "/nowhere", "GIT_EXTERNAL_DIFF": "/nowhere"}[name]
	}, time.Now)
	g.Timeout = time.Minute // the machine that tests may be slow
	return g
}

func TestStat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		in     string // folder below the work tree
		want   string
	}{
		"nothing changed": {func(*testing.T, string) {}, "", ""},
		"a file changed": {
			func(t *testing.T, dir string) { write(t, dir, "a.txt", "one\nthree\n") }, "",
			"a.txt | 2 +-\n1 file changed, 1 insertion(+), 1 deletion(-)",
		},
		"what is staged counts, what is unknown to git does not": {
			func(t *testing.T, dir string) {
				write(t, dir, "b.txt", "x\n")
				write(t, dir, "c.txt", "x\n")
				git(t, dir, "add", "b.txt")
			}, "",
			"b.txt | 1 +\n1 file changed, 1 insertion(+)",
		},
		"names in any script": {
			func(t *testing.T, dir string) { write(t, dir, "größe.txt", "x\n"); git(t, dir, "add", ".") }, "",
			"größe.txt | 1 +\n1 file changed, 1 insertion(+)",
		},
		"a subfolder lists the whole work tree": {
			func(t *testing.T, dir string) { write(t, dir, "a.txt", ""); write(t, dir, "sub/x", "") }, "sub",
			"a.txt | 2 --\n1 file changed, 2 deletions(-)",
		},
		"no programs of the repository are run": {
			func(t *testing.T, dir string) {
				write(t, dir, "evil.sh", "#!/bin/sh\ntouch '"+dir+"/ran'\n")
				for _, key := range []string{"diff.external", "core.fsmonitor", "core.pager", "diff.x.textconv", "diff.x.command"} {
					git(t, dir, "config", key, dir+"/evil.sh")
				}
				write(t, dir, ".git/info/attributes", "*.txt diff=x\n")
				write(t, dir, "a.txt", "one\nthree\n")
			}, "",
			"a.txt | 2 +-\n1 file changed, 1 insertion(+), 1 deletion(-)",
		},
		"no filters are run": {
			func(t *testing.T, dir string) {
				write(t, dir, "evil.sh", "#!/bin/sh\ntouch '"+dir+"/ran'\ncat\n")
				write(t, dir, ".git/info/attributes", "a.txt filter=one\nb.txt filter=The.Second\nc.txt filter=third\n")
				write(t, dir, "b.txt", "x\n")
				write(t, dir, "c.txt", "x\n")
				git(t, dir, "add", ".")
				git(t, dir, "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "-q", "-m", "More")
				for _, key := range []string{"filter.one.clean", "filter.one.smudge", "filter.The.Second.process", "filter.third.clean"} {
					git(t, dir, "config", key, dir+"/evil.sh")
				}
				git(t, dir, "config", "filter.third.required", "true")
				for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
					write(t, dir, name, "one\nthree\n")
				}
			}, "",
			"a.txt | 2 +-\nb.txt | 3 ++-\nc.txt | 3 ++-\n3 files changed, 5 insertions(+), 3 deletions(-)",
		},
		"a filter that cannot be switched off": {
			func(t *testing.T, dir string) {
				write(t, dir, "evil.sh", "#!/bin/sh\ntouch '"+dir+"/ran'\ncat\n")
				git(t, dir, "config", "filter.a=b.clean", dir+"/evil.sh")
				write(t, dir, "a.txt", "one\nthree\n")
			}, "", "",
		},
		"a hook of the repository": {
			func(t *testing.T, dir string) {
				write(t, dir, ".git/hooks/post-index-change", "#!/bin/sh\ntouch '"+dir+"/ran'\n")
				write(t, dir, "a.txt", "one\n")
			}, "",
			"a.txt | 1 -\n1 file changed, 1 deletion(-)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newRepository(t)
			c.change(t, dir)
			for range 3 { // it changes nothing itself
				if got := systemGit(t).Stat(t.Context(), filepath.Join(dir, c.in)); got != c.want {
					t.Errorf("got  %q\nwant %q", got, c.want)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
				t.Error("a program of the repository ran")
			}
		})
	}
}

func TestStatIsBounded(t *testing.T) {
	t.Parallel()
	dir := newRepository(t)
	for i := range 60 {
		write(t, dir, fmt.Sprintf("%s/f%02d.txt", strings.Repeat("long/", 40), i), "x\n")
	}
	git(t, dir, "add", ".")
	lines := strings.Split(systemGit(t).Stat(t.Context(), dir), "\n")
	if len(lines) != maxLines || lines[maxLines-1] != "60 files changed, 60 insertions(+)" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	for _, l := range lines {
		if utf8.RuneCountInString(l) > maxLine {
			t.Errorf("a line of %d characters", utf8.RuneCountInString(l))
		}
	}
}

func TestTrim(t *testing.T) {
	t.Parallel()
	long := trim(" "+strings.Repeat("é", 400)+"\xff\n") + "\n" + trim(strings.Repeat("x\n", 400)+"sum\n")
	lines := strings.Split(long, "\n")
	if len(lines) != 1+maxLines || utf8.RuneCountInString(lines[0]) != maxLine || lines[maxLines] != "sum" || !utf8.ValidString(long) {
		t.Errorf("%q", long)
	}
}

// TestStatIsEmpty covers every case without statistics.
func TestStatIsEmpty(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	git(t, empty, "init", "-q")
	dirty := newRepository(t)
	write(t, dirty, "a.txt", "")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	missing := systemGit(t)
	missing.Program = ""
	for name, c := range map[string]struct {
		ctx context.Context
		git Git
		dir string
	}{
		"no git":                {t.Context(), missing, dirty},
		"git is gone":           {t.Context(), Git{Program: filepath.Join(empty, "git"), Getenv: os.Getenv, Now: time.Now, Timeout: time.Minute}, dirty},
		"no folder":             {t.Context(), systemGit(t), filepath.Join(empty, "gone")},
		"no path":               {t.Context(), systemGit(t), ""},
		"a relative path":       {t.Context(), systemGit(t), "."},
		"no repository":         {t.Context(), systemGit(t), t.TempDir()},
		"no commit":             {t.Context(), systemGit(t), empty},
		"the deadline is there": {over, systemGit(t), dirty},
	} {
		if got := c.git.Stat(c.ctx, c.dir); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestSlowGitTimesOut runs a git that ignores SIGTERM and has a child that keeps its
// pipe open.
func TestSlowGitTimesOut(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the fake git is a shell script")
	}
	dir := t.TempDir()
	write(t, dir, "git", "#!/bin/sh\ntrap '' TERM\necho ' a | 1 +'\nsleep 2 &\nwhile :; do sleep 1; done\n")
	g := Find(os.Getenv, time.Now)
	g.Program = filepath.Join(dir, "git")
	if got := g.Stat(t.Context(), dir); got != "" { // or the test would last an hour
		t.Errorf("%q", got)
	}
}

// TestStatUsesHalfOfTheDeadline leaves at least half of the time to the hook.
func TestStatUsesHalfOfTheDeadline(t *testing.T) {
	t.Parallel()
	dir := newRepository(t)
	write(t, dir, "a.txt", "")
	g := systemGit(t)
	late := time.Now().Add(time.Hour)
	g.Now = func() time.Time { return late }
	ctx, cancel := context.WithDeadline(t.Context(), late.Add(-time.Second))
	defer cancel()
	if got := g.Stat(ctx, dir); got != "" {
		t.Errorf("after the deadline: %q", got)
	}
}

// BenchmarkStat measures the cost of git for a hook: a work tree of 2,000 files, 20
// of them changed, two processes and the pipe.
func BenchmarkStat(b *testing.B) {
	dir := b.TempDir()
	for i := range 2000 {
		write(b, dir, fmt.Sprintf("d%d/f%d.go", i%40, i), strings.Repeat("a line\n", 40))
	}
	git(b, dir, "init", "-q")
	git(b, dir, "config", "filter.lfs.clean", "false")
	git(b, dir, "add", ".")
	git(b, dir, "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "-q", "-m", "Begin")
	for i := range 20 {
		write(b, dir, fmt.Sprintf("d%d/f%d.go", i%40, i), strings.Repeat("another line\n", 40))
	}
	g := systemGit(b)
	for b.Loop() {
		if g.Stat(b.Context(), dir) == "" {
			b.Fatal("git says nothing")
		}
	}
}
