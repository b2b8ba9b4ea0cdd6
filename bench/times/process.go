package times

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"strandline/bench/times/rusage"
)

// Programs are the measured executables and their references.
type Programs struct {
	Strandline string
	Empty      string // a Go program that does nothing
	Peak       string // reports the peak memory of its child
	Nearest    string // searches a file of vectors and nothing else
}

// Build compiles the reference programs into dir. The working directory must be in
// this module.
func Build(ctx context.Context, dir, strandline string) (Programs, error) {
	p := Programs{Empty: filepath.Join(dir, "empty"), Peak: filepath.Join(dir, "peak"), Nearest: filepath.Join(dir, "nearest")}
	if runtime.GOOS == "windows" {
		p.Empty, p.Peak, p.Nearest = p.Empty+".exe", p.Peak+".exe", p.Nearest+".exe"
	}
	var err error
	if p.Strandline, err = filepath.Abs(strandline); err != nil {
		return p, fmt.Errorf("find strandline: %w", err)
	}
	if _, err := os.Stat(p.Strandline); err != nil {
		return p, fmt.Errorf("find strandline: %w", err)
	}
	for out, pkg := range map[string]string{p.Empty: "empty", p.Peak: "peak", p.Nearest: "nearest"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, "strandline/bench/times/programs/"+pkg)
		if text, err := cmd.CombinedOutput(); err != nil {
			return p, fmt.Errorf("build %s: %w\n%s", pkg, err, text)
		}
	}
	return p, nil
}

// World is a user's machine in a folder: a home, a client's folder, an archive.
type World struct {
	Dir string
}

// NewWorld makes the folders of a world below dir.
func NewWorld(dir string) (World, error) {
	w := World{Dir: dir}
	for _, d := range []string{w.Home(), w.Archive(), w.Projects()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return w, fmt.Errorf("make the world: %w", err)
		}
	}
	return w, nil
}

// Home is the user's home folder.
func (w World) Home() string { return filepath.Join(w.Dir, "user") }

// Archive is STRANDLINE_HOME.
func (w World) Archive() string { return filepath.Join(w.Dir, "archive") }

// Client is the client's folder.
func (w World) Client() string { return filepath.Join(w.Dir, "client") }

// Projects is where the client keeps transcripts.
func (w World) Projects() string { return filepath.Join(w.Client(), "projects") }

// Transcript is the path of a session's transcript.
func (w World) Transcript(session string) string {
	return filepath.Join(w.Projects(), "-home-dev-acme", session+".jsonl")
}

// env is the complete environment of a process.
func (w World) env() []string {
	env := []string{
		"HOME=" + w.Home(), "USERPROFILE=" + w.Home(), "XDG_CONFIG_HOME=" + filepath.Join(w.Home(), ".config"),
		"XDG_DATA_HOME=" + filepath.Join(w.Home(), ".local", "share"),
		"STRANDLINE_HOME=" + w.Archive(), "CLAUDE_CONFIG_DIR=" + w.Client(), "NO_COLOR=1",
	}
	for _, name := range []string{"PATH", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// Result describes one finished process.
type Result struct {
	Took   time.Duration
	CPU    time.Duration // user and system
	Faults int64         // page faults; 0 where the system does not report them
	Stdout []byte
	Stderr []byte
}

// errExit reports an exit code other than 0.
var errExit = errors.New("exit code is not 0")

// Run starts a process and waits for it. The time includes start and end, as a
// client experiences it.
func (w World) Run(ctx context.Context, stdin []byte, name string, args ...string) (Result, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = w.env()
	cmd.Dir = w.Home()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	start := time.Now()
	err := cmd.Run()
	r := Result{Took: time.Since(start), Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
	if cmd.ProcessState != nil {
		r.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		r.Faults = rusage.Faults(cmd.ProcessState)
	}
	if err != nil {
		return r, fmt.Errorf("%w: %s %s: %w\n%s", errExit, filepath.Base(name), strings.Join(args, " "), err, bytes.TrimSpace(r.Stderr))
	}
	return r, nil
}

// Peak runs a process once and returns its peak resident memory in bytes, 0 on
// systems that do not report it.
func (w World) Peak(ctx context.Context, p Programs, stdin []byte, name string, args ...string) (int64, Result, error) {
	file := filepath.Join(w.Dir, "peak.txt")
	r, err := w.Run(ctx, stdin, p.Peak, append([]string{file, name}, args...)...)
	if err != nil {
		return 0, r, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, r, fmt.Errorf("read the peak: %w", err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil {
		return 0, r, fmt.Errorf("read the peak: %w", err)
	}
	return n, r, nil
}
