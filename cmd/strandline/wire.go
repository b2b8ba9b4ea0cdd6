package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/cli"
	"strandline/internal/client"
	"strandline/internal/config"
	"strandline/internal/index/sqlite"
	"strandline/internal/project"
	"strandline/internal/redact"
	"strandline/internal/sessionlog"
	"strandline/internal/state"
)

// homeDir returns the user's home folder, or "" if it is unknown.
func homeDir() string {
	home, _ := os.UserHomeDir() // config then uses the environment
	return home
}

// loadConfig loads the settings of hooks and the statusline. They are usable even
// with an error.
func loadConfig() (*config.Config, error) {
	return config.Load(config.Inputs{Env: os.Getenv, Home: homeDir(), Cwd: os.Getenv("CLAUDE_PROJECT_DIR")})
}

// newCapture returns the capture and the journal of a configuration.
func newCapture(cfg *config.Config) (*capture.Capture, capture.Journal, error) {
	if cfg.Paths.Home == "" {
		return nil, capture.Journal{}, archive.Invalid("the home folder is unknown", "set STRANDLINE_HOME")
	}
	clean := redactor(cfg)
	j := capture.Journal{Log: sessionlog.Journal{Dir: cfg.Paths.Journal()}, Redact: clean, Now: now}
	records := &capture.Records{
		Key:     func() []byte { return recordKey(cfg) },
		Entries: j.All,
	}
	c := &capture.Capture{
		Layout:  sessionlog.Layout{Root: cfg.Paths.Home},
		Clients: client.All(),
		Redact:  clean,
		Project: identify(clean),
		Now:     now,
		Records: records,
	}
	return c, j, nil
}

// recordKey returns the key that signs records; nil without a readable key file. It
// is derived from the key of the redaction, so that only one is kept.
func recordKey(cfg *config.Config) []byte {
	key, err := redact.LoadKey(cfg.ConfigDir)
	if err != nil {
		return nil
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte("strandline record signature"))
	return h.Sum(nil)
}

// identify returns the function that identifies a folder's project. A name or path
// that holds a secret is redacted, in the names of log folders too.
func identify(clean func(string) string) func(dir string) archive.Project {
	return func(dir string) archive.Project {
		p := project.Identify(dir)
		for _, s := range []*string{&p.Key, &p.Name, &p.Root, &p.Remote} {
			*s = clean(*s)
		}
		return p
	}
}

// redactor returns the function that redacts secrets. It loads its key at the
// first text. Without a key, equal secrets get different placeholders in different
// processes.
func redactor(cfg *config.Config) func(string) string {
	if !cfg.Redact.Enabled {
		return redact.Private
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

// changes returns a function that describes a folder's uncommitted changes,
// redacted. It looks for git when it is called.
func changes(cfg *config.Config) func(ctx context.Context, dir string) string {
	clean := redactor(cfg)
	return func(ctx context.Context, dir string) string {
		return clean(project.Find(os.Getenv, now).Stat(ctx, dir))
	}
}

// newApp returns the application layer.
func newApp() *app.App {
	cwd, _ := os.Getwd()
	machine, _ := os.Hostname()
	exe, _ := os.Executable()
	return app.New(app.Options{
		Version: version, Machine: machine, Home: homeDir(), Cwd: cwd, Exe: cmp.Or(exe, os.Args[0]), Getenv: os.Getenv, Now: now,
		Notice:     func(text string) { fmt.Fprintln(os.Stderr, "note: "+text) },
		NewCapture: newCapture, Redactor: redactor, Changes: changes, Monitor: newMonitor, Stores: stores{}, System: system{}, Network: network(),
		Pipe: pipe, Cipher: encryption(),
	})
}

// cliOptions returns the dependencies of the command line.
func cliOptions() cli.Options {
	a := newApp()
	return cli.Options{
		App: a, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Terminal: terminal, Page: page,
		Frontends: frontends(a), Companion: companion, RunProgram: runProgram, StartProgram: startProgram,
	}
}

// terminal reports whether w is a terminal, and its width.
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

// page shows a text that is longer than the terminal with $PAGER, or else less.
func page(text []byte) bool {
	_, height, err := term.GetSize(int(os.Stdout.Fd()))
	name, set := os.LookupEnv("PAGER")
	if !set {
		name = "less"
	}
	argv := strings.Fields(name)
	if err != nil || bytes.Count(text, []byte("\n")) < height || len(argv) == 0 || argv[0] == "cat" {
		return false
	}
	cmd := exec.CommandContext(context.Background(), argv[0], argv[1:]...) // the user's setting; the user ends it
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = bytes.NewReader(text), os.Stdout, os.Stderr, os.Environ()
	if os.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX") // stay on one screen, pass colours, keep the screen
	}
	if cmd.Start() != nil {
		return false
	}
	_ = cmd.Wait() // a user may leave before the end
	return true
}

// system implements app.System.
type system struct{}

func (system) LookPath(name string) (string, error) { return exec.LookPath(name) }

// Detach implements app.System.
func (system) Detach(args ...string) error { return detach(args...) }

// VersionOf implements app.System.
func (system) VersionOf(ctx context.Context, exe, arg string) (string, error) {
	// The client's settings already run this path as a hook, or it is the client.
	out, err := exec.CommandContext(ctx, exe, arg).Output()
	if err != nil {
		return "", fmt.Errorf("run %s: %w", exe, err)
	}
	fields := strings.Fields(string(out))
	if len(fields) < 2 {
		return "", fmt.Errorf("%s prints no version", exe)
	}
	if fields[0] == "strandline" {
		return fields[1], nil
	}
	return fields[0], nil
}

// stores implements app.Stores; its methods for the team are in full.go and
// lean.go.
type stores struct{}

// OpenIndex implements app.Stores.
func (stores) OpenIndex(ctx context.Context, path string, mode app.Mode) (*app.Index, error) {
	s, err := openIndex(ctx, path, sqlite.Options{ReadOnly: mode == app.ReadOnly, Bulk: mode == app.BulkWrite, Texts: trimmedTexts(path)})
	if err != nil {
		return nil, err
	}
	return &app.Index{Catalog: s, Transcripts: s, FileIndex: s, PassageIndex: s, JournalIndex: s, LogIndex: s, TierIndex: s, VectorIndex: s}, nil
}

// Entries implements app.Stores.
func (stores) Entries(ctx context.Context, path string) ([]string, error) {
	return sqlite.Entries(ctx, path)
}

// trimmedTexts returns a function that reads the texts that the index no longer
// holds from the logs next to it. It loads the settings at the first call.
func trimmedTexts(index string) sqlite.Texts {
	load := sync.OnceValues(func() (*capture.Capture, error) {
		cfg, _ := config.Load(config.Inputs{Env: os.Getenv, Home: homeDir()}) // usable even with an error
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

// index is an open index with a shared lock that prevents its replacement.
type index struct {
	*sqlite.Store
	lock *state.Lock
}

func (i index) Close() error { return errors.Join(i.Store.Close(), i.lock.Release()) }

// lockTimeout limits the wait for a reindex to replace the index file.
const lockTimeout = 10 * time.Second

// openIndex opens an index file. It waits for other processes until ctx ends.
func openIndex(ctx context.Context, path string, opt sqlite.Options) (index, error) {
	opt.Rules = redact.Rules
	if path == "" {
		s, err := sqlite.Open(ctx, path, opt)
		return index{Store: s}, err
	}
	wait, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	lock, err := state.WaitLock(wait, path+".lock", true)
	switch {
	case errors.Is(err, state.ErrHeld):
		return index{}, &archive.Error{Code: archive.CodeBusy, Msg: "the index is being replaced", Hint: "wait for `strandline reindex` to end and try again"}
	case opt.ReadOnly && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)):
		lock = nil // no process can replace a file in a read-only folder
	case err != nil:
		return index{}, &archive.Error{Code: archive.CodeDenied, Msg: "cannot write to " + filepath.Dir(path), Err: err,
			Hint: "check its permissions and the free space, or set STRANDLINE_HOME to another folder"}
	}
	if deadline, ok := ctx.Deadline(); ok {
		opt.BusyTimeout = time.Until(deadline)
	}
	s, err := sqlite.Open(ctx, path, opt)
	if err != nil {
		return index{}, errors.Join(err, lock.Release())
	}
	return index{s, lock}, nil
}
