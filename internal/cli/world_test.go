package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/bench/synth"
	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/index/sqlite"
	"strandline/internal/redact"
	"strandline/internal/sessionlog"
)

const (
	sessionA = "7f3a12cd-0000-4000-8000-000000000001"
	sessionB = "9b1c44ee-0000-4000-8000-000000000002"
	agentB   = "a2c37f95b1d0"
)

// world is a user's home with a client's folder, and an archive.
type world struct {
	free   int64 // bytes on the disk, 0: not known
	t      *testing.T
	dir    string
	width  int // of the terminal; 0: there is none
	colour bool
	env    map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	// A path is on a separate line wherever the tests run.
	w := &world{t: t, dir: filepath.Join(t.TempDir(), strings.Repeat("d", 80)), width: 80}
	w.env = map[string]string{
		"STRANDLINE_HOME": w.path("archive"), "CLAUDE_CONFIG_DIR": w.path("home", ".claude"), "XDG_CONFIG_HOME": w.path("home", ".config"),
	}
	for _, dir := range []string{"archive", "home/.claude/projects", "bin", "work"} {
		if err := os.MkdirAll(w.path(filepath.FromSlash(dir)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(w.path("bin", "strandline"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) path(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

// sessions writes what a client has: two sessions, one with a sub-agent, and
// texts that are not made for a terminal.
func (w *world) sessions() {
	w.t.Helper()
	w.session(sessionA, "/home/dev/shop", noon().Add(-26*time.Hour), func(s *synth.Session) {
		w.turn(s, "Make the payment retry wait longer, the gateway bans clients that retry within a second", 0)
		w.turn(s, "支払いの再試行を倍にする 😀 und nicht mehr", 1)
		s.Compact("auto", 167_000, 9_000, "The user works on payments.")
		w.turn(s, "now \x1b]0;owned\x07rename\x1b[2J the \x1b[31mwindow\x1b[0m\u202e", 2)
	})
	w.session(sessionB, "/home/dev/a-project-whose-name-does-not-fit-in", noon().Add(-40*time.Minute), func(s *synth.Session) {
		w.turn(s, "Where is the backoff?", 3)
	})
	w.session(filepath.Join(sessionB, "subagents", "agent-"+agentB), "/home/dev/a-project-whose-name-does-not-fit-in", noon().Add(-39*time.Minute), func(s *synth.Session) {
		w.turn(s, "Find maxBackoff", 4)
	})
}

// edits adds two sessions that change files of the same name.
func (w *world) edits() {
	w.t.Helper()
	edit := func(s *synth.Session, say, path, before, after, failure string) {
		if say != "" {
			s.Say(say)
		}
		call := s.Use("Edit", synth.Row{}.Str("file_path", path).Str("old_string", before).Str("new_string", after))
		s.Respond()
		s.Answer(call, cmp.Or(failure, "The file was changed."), failure != "", nil)
		s.Wait(time.Minute)
	}
	const retry = "/home/dev/shop/pay/retry.go"
	w.session(sessionA, "/home/dev/shop", noon().Add(-26*time.Hour), func(s *synth.Session) {
		s.Prompt("Make the payment retry wait longer, the gateway bans clients that retry within a second")
		for i := range 7 {
			edit(s, fmt.Sprintf("Now let me raise the limit of attempt %d:", i), retry, fmt.Sprintf("max = %d", i), fmt.Sprintf("max = %d\nmin = 1", i+1), "")
		}
		s.EndTurn()
	})
	w.session(sessionB, "/home/dev/tides", noon().Add(-40*time.Minute), func(s *synth.Session) {
		s.Prompt("Cap the wait")
		read := s.Use("Read", synth.Row{}.Str("file_path", "/home/dev/shop/pay/read.go"))
		s.Respond()
		s.Answer(read, "package pay", false, nil)
		read = s.Use("Read", synth.Row{}.Str("file_path", retry))
		s.Respond()
		s.Answer(read, "package pay", false, nil)
		edit(s, "The wait has no upper bound. Let me fix that:", retry, "func wait() {\n\treturn d\n}", "func wait() {\n\treturn min(d, top)\n}\n\nfunc top() {}", "")
		edit(s, "", retry, "func gone() {}", "", "String to replace not found")
		s.Wait(10 * time.Minute)
		call := s.Use("Bash", synth.Row{}.Str("command", "gofmt -w pay/retry.go && \x1b[31mgo\x1b[0m test ./pay -run TestRetryWaitsForTheGatewayAndNotLongerThanTheLimit"))
		s.Respond()
		s.Answer(call, "ok", false, nil)
		edit(s, "I'll add the same to the tides.", "/home/dev/tides/retry.go", "", "type tide struct{}", "")
		s.EndTurn()
	})
}

func (w *world) turn(s *synth.Session, prompt string, n int) {
	s.Prompt(prompt)
	s.Say(fmt.Sprintf("I set maxBackoff%d to 4500 ms because the gateway bans clients.", n))
	call := s.Use("Bash", synth.Row{}.Str("command", fmt.Sprintf("go test ./pay -run TestRetry%d", n)))
	s.Respond()
	s.Answer(call, fmt.Sprintf("Exit code 1\n\x1b[31m--- FAIL\x1b[0m: TestRetry%d\r\nretry_test.go:41: waited 0s\x1b[2J", n), true, nil)
	s.Say("The retry doubles now.")
	s.Respond()
	s.EndTurn()
	s.Wait(time.Minute)
}

func (w *world) session(name, cwd string, start time.Time, write func(*synth.Session)) {
	w.t.Helper()
	var out bytes.Buffer
	id, _, _ := strings.Cut(filepath.ToSlash(name), "/")
	s := synth.New(&out, synth.Options{
		Session: id, Cwd: cwd, Branch: "main", Version: "2.1.0", Model: "claude-opus-5-5", Start: start, Seed: uint64(len(name)) + uint64(name[0]), Context: 12000,
	})
	s.Begin()
	write(s)
	if err := s.Err(); err != nil {
		w.t.Fatal(err)
	}
	path := w.path("home", ".claude", "projects", "-home-dev-shop", name+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// rest sets the time of every file of the archive to the clock's.
func (w *world) rest() {
	w.t.Helper()
	err := filepath.WalkDir(w.path("archive"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return os.Chtimes(path, noon(), noon())
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// run runs a command and returns its exit code and what it printed, with the
// world's own folder as "$DIR".
func (w *world) run(args ...string) (code int, stdout, stderr string) {
	w.t.Helper()
	var out, errOut bytes.Buffer
	code = Main(w.t.Context(), w.options(&out, &errOut), args)
	clean := func(b bytes.Buffer) string { return strings.ReplaceAll(b.String(), w.dir, "$DIR") }
	return code, clean(out), clean(errOut)
}

// must is run for a command that has to succeed.
func (w *world) must(args ...string) string {
	w.t.Helper()
	code, out, errOut := w.run(args...)
	if code != ExitOK {
		w.t.Fatalf("strandline %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errOut)
	}
	return out
}

// options are a world's dependencies. Each call makes its own App.
func (w *world) options(out, errOut io.Writer) Options {
	return Options{
		App: app.New(w.outside()), Stdin: strings.NewReader(""), Stdout: out, Stderr: errOut,
		Terminal: func(io.Writer) (int, bool) { return w.width, w.width > 0 },
	}
}

func (w *world) outside() app.Options {
	return app.Options{
		Home: w.path("home"), Cwd: w.path("work"), Exe: w.path("bin", "strandline"), Now: noon, Version: "1.2.3",
		Getenv: func(k string) string {
			if k == "NO_COLOR" && !w.colour {
				return "1"
			}
			return w.env[k]
		},
		Stores:     testStores{},
		NewCapture: newCapture,
		Redactor:   func(*config.Config) func(string) string { return hideKeys },
		System:     testSystem{w},
	}
}

// testStores opens SQLite indexes. It calls closing before an index that was
// opened for a bulk write is closed.
type testStores struct {
	app.Stores
	closing func()
}

func (s testStores) OpenIndex(ctx context.Context, path string, mode app.Mode) (*app.Index, error) {
	store, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: mode == app.ReadOnly, Bulk: mode == app.BulkWrite, Rules: redact.Rules})
	if err != nil {
		return nil, err
	}
	x := &app.Index{Catalog: store, Transcripts: store, FileIndex: store, PassageIndex: store, JournalIndex: store, LogIndex: store, TierIndex: store, VectorIndex: store}
	if mode == app.BulkWrite && s.closing != nil {
		x.Catalog = closingStore{store, s.closing}
	}
	return x, nil
}

func (testStores) LinksTeam() bool { return false }

type closingStore struct {
	*sqlite.Store
	before func()
}

func (c closingStore) Close() error {
	c.before()
	return c.Store.Close()
}

// testSystem is a world's operating system.
type testSystem struct{ w *world }

func (s testSystem) DiskFree(string) (int64, bool)   { return s.w.free, s.w.free > 0 }
func (testSystem) LowerPriority()                    {}
func (s testSystem) LookPath(string) (string, error) { return s.w.path("bin", "strandline"), nil }
func (testSystem) VersionOf(_ context.Context, _, arg string) (string, error) {
	if arg == "--version" { // of the client
		return "2.1.0", nil
	}
	return "1.2.3", nil
}
func (testSystem) FindCompanion() (string, error) { return "", nil }
func (testSystem) Detach(...string) error         { return nil }

func hideKeys(s string) string { return strings.ReplaceAll(s, "4500", "[number]") }

func newCapture(cfg *config.Config) (*capture.Capture, capture.Journal, error) {
	records := &capture.Records{Key: func() []byte { return []byte("key") }}
	c := &capture.Capture{
		Layout:  sessionlog.Layout{Root: cfg.Paths.Home},
		Records: records,
		Project: func(dir string) archive.Project {
			return archive.Project{Key: "dir:" + dir, Name: filepath.Base(dir), Root: dir}
		},
		Now: noon,
	}
	j := capture.Journal{Log: sessionlog.Journal{Dir: filepath.Join(cfg.Paths.Home, "journal")}, Redact: hideKeys, Now: noon}
	return c, j, nil
}
