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

// Limits on the statistics.
const (
	maxLines  = 25
	maxLine   = 160 // characters
	maxOutput = 64 << 10
)

// timeout limits git in a hook.
const timeout = 300 * time.Millisecond

// grace is the time between asking git to end and killing it.
const grace = 50 * time.Millisecond

// Git runs git.
type Git struct {
	Program string // path of git, "" if it is not installed
	// Getenv reads environment variables. Git receives only those that locate its
	// settings; GIT_DIR describes the current process, not the work tree.
	Getenv  func(string) string
	Timeout time.Duration
	Now     func() time.Time
}

// Stat returns `git diff --stat HEAD` of dir's work tree in at most 25 lines of 160
// characters. It returns "" without changes, for a relative dir or one without a
// commit, and if git is missing, fails, or takes longer than g.Timeout or half of
// the time until the deadline of ctx.
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
	out := ""
	if err == nil {
		out, err = g.run(ctx, dir, append(filters, "diff", "--no-ext-diff", "--no-textconv", "--no-color",
			"--ignore-submodules=dirty", "--stat=160,120,23", "--stat-graph-width=10", "HEAD", "--")...)
	}
	if err != nil || ctx.Err() != nil {
		return ""
	}
	return trim(out)
}

// filters returns options that switch off all configured filter programs, which
// git diff would run on each changed file. Such files are compared unfiltered.
func (g Git) filters(ctx context.Context, dir string) ([]string, error) {
	out, err := g.run(ctx, dir, "config", "--null", "--name-only", "--get-regexp", `^filter\..*\.(clean|smudge|process|required)$`)
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() == 1 {
		return nil, nil // no filters
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
			return nil, errors.New("a filter's name has an equals sign or a line end") // it cannot be set on the command line
		}
		off = append(off, "-c", name+"="+value)
	}
	return off, nil
}

// run runs git without a shell, a terminal, a pager, locks and any program that the
// repository configures.
func (g Git) run(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, g.Program, append([]string{
		"--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.quotePath=false",
	}, args...)...)
	cmd.Dir, cmd.Env = dir, g.environment()
	cmd.WaitDelay = grace
	cmd.Cancel = func() error { // on SIGTERM git ends its children
		if cmd.Process.Signal(syscall.SIGTERM) != nil {
			return cmd.Process.Kill()
		}
		return nil
	}
	out := new(limited)
	cmd.Stdout = out
	err := cmd.Run()
	return out.String(), err
}

// environment returns git's environment variables.
func (g Git) environment() []string {
	env := []string{
		"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", // a partial clone must not fetch
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

// limited stores at most maxOutput bytes.
type limited struct{ strings.Builder }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxOutput {
		return 0, io.ErrShortWrite
	}
	return l.Builder.Write(p)
}

// trim shortens git's output to the limits and keeps its last line, the totals.
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

// Find returns a Git for a hook, limited to 300 ms. It uses the git in PATH, unless
// that is in the current folder.
func Find(getenv func(string) string, now func() time.Time) Git {
	path, err := exec.LookPath("git")
	if err != nil || !filepath.IsAbs(path) {
		path = ""
	}
	return Git{Program: path, Getenv: getenv, Now: now, Timeout: timeout}
}
