package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/term"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/cli"
	"strandline/internal/config"
	"strandline/internal/index/sqlite"
	"strandline/internal/project"
	"strandline/internal/redact"
	"strandline/internal/sessionlog"
)

func pending(cfg *config.Config) capture.Pending {
	return capture.Pending{Dir: cfg.Paths.Pending()}
}

// newCapture wires the capture for a configuration.
func newCapture(cfg *config.Config) (*capture.Capture, capture.Journal, error) {
	if cfg.Paths.Home == "" {
		return nil, capture.Journal{}, archive.Invalid("there is no home folder", "set STRANDLINE_HOME")
	}
	clean := redactor(cfg)
	c := &capture.Capture{
		Layout:  sessionlog.Layout{Root: cfg.Paths.Home},
		Client:  capture.ClaudeCode(clean),
		Project: project.Identify,
		Now:     now,
	}
	j := capture.Journal{Log: sessionlog.Journal{Dir: cfg.Paths.Journal()}, Redact: clean, Now: now}
	return c, j, nil
}

// redactor returns what removes secrets from texts. Its key is read at the first
// text; without one, placeholders of different runs do not look alike, which
// is the smaller harm.
func redactor(cfg *config.Config) func(string) string {
	if !cfg.Redact.Enabled {
		return func(s string) string { return s }
	}
	load := sync.OnceValue(func() *redact.Redactor {
		key, err := redact.LoadKey(cfg.ConfigDir)
		if err != nil {
			key = redact.EphemeralKey()
		}
		return redact.New(key)
	})
	return func(s string) string {
		if s == "" {
			return ""
		}
		return load().String(s)
	}
}

// changes returns what tells the uncommitted changes of a folder, redacted. Git
// is looked for when it is needed.
func changes(cfg *config.Config) func(ctx context.Context, dir string) string {
	clean := redactor(cfg)
	return func(ctx context.Context, dir string) string {
		return clean(project.Find(os.Getenv, now).Stat(ctx, dir))
	}
}

// newApp wires the application layer.
func newApp() *app.App {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	cwd, err := os.Getwd()
	if err != nil {
		cwd = ""
	}
	machine, err := os.Hostname()
	if err != nil {
		machine = ""
	}
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	return app.New(app.Options{
		Version: version, Machine: machine, Home: home, Cwd: cwd, Exe: exe, Getenv: os.Getenv, Now: now,
		NewCapture: newCapture, Redactor: redactor, Changes: changes, Stores: stores{}, System: system{}, Network: network(),
	})
}

// cliOptions are the dependencies of the command line.
func cliOptions() cli.Options {
	a := newApp()
	return cli.Options{
		App: a, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Terminal: terminal,
		Frontends: frontends(a), Companion: companion, RunProgram: runProgram,
	}
}

// system implements app.System.
type system struct{}

func (system) DiskFree(dir string) (int64, bool)    { return diskFree(dir) }
func (system) LowerPriority()                       { background() }
func (system) LookPath(name string) (string, error) { return exec.LookPath(name) }
func (system) FindCompanion() (string, error)       { return findCompanion() }

// VersionOf implements app.System.
func (system) VersionOf(ctx context.Context, exe string) (string, error) {
	// The client's settings already run this path as a hook.
	out, err := exec.CommandContext(ctx, exe, "version").Output()
	if err != nil {
		return "", fmt.Errorf("run %s: %w", exe, err)
	}
	fields := strings.Fields(string(out))
	if len(fields) < 2 {
		return "", fmt.Errorf("%s prints no version", exe)
	}
	return fields[1], nil
}

// terminal reports how wide a terminal is.
func terminal(w io.Writer) (int, bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 80, true
	}
	return width, true
}

// texts reads what was trimmed from an index out of the logs beside it. Settings
// are read when that is needed, which is rarely.
func texts(index string) sqlite.Texts {
	load := sync.OnceValues(func() (*capture.Capture, error) {
		home, err := os.UserHomeDir()
		if err != nil {
			home = ""
		}
		cfg, _ := config.Load(config.Inputs{Env: os.Getenv, Home: home}) // a setting that is not accepted stops nothing
		cfg.Paths.Home = filepath.Dir(index)
		c, _, err := newCapture(cfg)
		return c, err
	})
	return func(ctx context.Context, session string, from, to int) ([]archive.Passage, error) {
		c, err := load()
		if err != nil {
			return nil, err
		}
		return c.ReadPassages(ctx, session, from, to)
	}
}

// stores implements app.Stores.
type stores struct{}

// OpenIndex implements app.Stores.
func (stores) OpenIndex(ctx context.Context, path string, mode app.Mode) (*app.Index, error) {
	s, err := openIndex(ctx, path, sqlite.Options{ReadOnly: mode == app.ReadOnly, Bulk: mode == app.BulkWrite, Texts: texts(path)})
	if err != nil {
		return nil, err
	}
	return &app.Index{Catalog: s, Transcripts: s, PassageIndex: s, JournalIndex: s, LogIndex: s, TierIndex: s, VectorIndex: s}, nil
}
