// Package gitstat says what a work tree holds that is not committed, as
// `git diff --stat HEAD` tells it. It is the one place that runs git, and it runs
// it for a hook that somebody waits for: whatever goes wrong, there is nothing to
// say.
package project

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// Limits on what is said.
const (
	maxLines  = 25
	maxLine   = 160 // characters
	maxOutput = 64 << 10
)

// timeout is how long a hook has for git: a work tree that takes longer is passed
// over.
const timeout = 300 * time.Millisecond

// grace is how long git has to end when it was told to, before it is killed and
// its pipe closed.
const grace = 50 * time.Millisecond

// Git runs git.
type Git struct {
	// Program is the path of git; "" says nothing at all.
	Program string
	// Getenv looks up the environment. Of it, git sees what finds the user's and
	// the system's settings; GIT_DIR and its like describe another process.
	Getenv func(string) string
	// Timeout is how long it may take.
	Timeout time.Duration
	// Now is the clock that deadlines are held against.
	Now func() time.Time
}

// Stat returns the statistics of what is changed in dir's work tree against its
// last commit, at most 25 lines and none longer than 160 characters. It is empty
// when nothing is changed, when dir is no absolute path or in no repository with a
// commit, and when git is missing, fails, or is slower than g.Timeout or than
// half of what ctx leaves.
func (g Git) Stat(ctx context.Context, dir string) string {
	if g.Program == "" || !filepath.IsAbs(dir) {
		return ""
	}
	limit := g.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, deadline.Sub(g.Now())/2)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	filters, err := g.filters(ctx, dir)
	if err != nil || ctx.Err() != nil {
		return ""
	}
	out, err := g.run(ctx, dir, append(filters,
		"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty",
		"--stat=160,120,23", "--stat-graph-width=10", "HEAD", "--")...)
	if err != nil || ctx.Err() != nil {
		return ""
	}
	return trim(out)
}

// errOddFilter is a filter that a setting on the command line cannot name.
var errOddFilter = errors.New("a filter's name holds an equals sign or a line end")

// filters returns settings that switch off every filter program which the
// repository or its user has configured: a diff would run them on each file that
// changed, whatever they do and however long it takes. Such files are compared as
// they lie in the work tree.
func (g Git) filters(ctx context.Context, dir string) ([]string, error) {
	out, err := g.run(ctx, dir, "config", "--null", "--name-only", "--get-regexp", `^filter\..*\.(clean|smudge|process|required)$`)
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == 1 {
		return nil, nil // there is none
	}
	if err != nil {
		return nil, err
	}
	var off []string
	for name := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		value := ""
		if strings.HasSuffix(name, ".required") {
			value = "false"
		}
		if strings.ContainsAny(name, "=\n") {
			return nil, errOddFilter
		}
		off = append(off, "-c", name+"="+value)
	}
	return off, nil
}

// run runs git without a shell, a terminal, a pager, locks, or the programs that
// a repository may name: only its own work.
func (g Git) run(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, g.Program, append([]string{
		"--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.quotePath=false",
	}, args...)...)
	cmd.Dir, cmd.Env = dir, g.environment()
	cmd.WaitDelay = grace
	cmd.Cancel = func() error { // git ends its children when it is asked to end
		if cmd.Process.Signal(syscall.SIGTERM) != nil {
			return cmd.Process.Kill()
		}
		return nil
	}
	out := &limited{room: maxOutput}
	cmd.Stdout = out
	err := cmd.Run()
	return out.text.String(), err
}

// environment is what git sees of the process's own.
func (g Git) environment() []string {
	env := []string{
		"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", // what a partial clone lacks is not fetched
	}
	names := []string{"PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "GIT_CONFIG_NOSYSTEM"}
	if runtime.GOOS == "windows" {
		names = append(names, "SystemRoot", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "PROGRAMDATA", "TEMP", "TMP")
	}
	for _, name := range names {
		if v := g.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// limited keeps the beginning of what is written to it.
type limited struct {
	text strings.Builder
	room int
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.room {
		return 0, io.ErrShortWrite
	}
	l.room -= len(p)
	return l.text.Write(p)
}

// trim takes what git prints down to the limits. Its last line, the sums, stays.
func trim(out string) string {
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	for i, l := range lines {
		l = strings.TrimSpace(strings.ToValidUTF8(l, "\uFFFD"))
		if utf8.RuneCountInString(l) > maxLine {
			l = string([]rune(l)[:maxLine-1]) + "…"
		}
		lines[i] = l
	}
	if n := len(lines); n > maxLines {
		lines = append(lines[:maxLines-1], lines[n-1])
	}
	return strings.Join(lines, "\n")
}

// Find returns a Git for a hook. It runs the git that is found on the path, if
// that is not in the current folder, and takes at most 300 ms.
func Find(getenv func(string) string, now func() time.Time) Git {
	path, err := exec.LookPath("git")
	if err != nil || !filepath.IsAbs(path) {
		path = ""
	}
	return Git{Program: path, Getenv: getenv, Now: now, Timeout: timeout}
}
