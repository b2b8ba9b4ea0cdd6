//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"strandline/bench/synth"
)

const (
	doomed   = "7f3a12cd-0000-4000-8000-000000000001"
	spared   = "9b1c44ee-0000-4000-8000-000000000002"
	secret   = "periwinkle-4711"
	maxKills = 16 // maximal kills of one deletion
)

// deletions is an archive with a session to forget, and the program to run.
type deletions struct {
	t       *testing.T
	root    string
	program string
}

// A deletion that is killed at any of its writes deletes nothing of other sessions.
// The same command or a maintenance run completes it; then nothing is left.
func TestForgetSurvivesKills(t *testing.T) {
	for _, c := range []struct {
		name, handle string
		stays        bool // the session stays, without the turn
		finish       []string
	}{
		{"a session, finished by the same command", doomed, false, []string{"forget", doomed, "--yes", "--prove", secret}},
		{"a session, finished by maintenance", doomed, false, []string{"maintain"}},
		{"a turn, finished by the same command", "7f3a12cd/1", true, []string{"forget", "7f3a12cd/1", "--yes", "--prove", secret}},
		{"a turn, finished by maintenance", "7f3a12cd/1", true, []string{"maintain"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDeletions(t, !c.stays)
			killed, finished := 0, 0
			for writes := 1; writes <= maxKills; writes++ {
				d.restore()
				if !d.kill(writes, "forget", c.handle, "--yes") {
					break // it has no more writes
				}
				killed++
				d.whole(spared)
				code, out := d.run(c.finish...)
				if code != 0 && !(c.stays && code == 3) { // a deleted turn is not found
					t.Fatalf("killed at write %d: %v ends with %d\n%s", writes, c.finish, code, out)
				}
				if c.finish[0] == "maintain" && d.isWhole(doomed) {
					continue // the deletion was not recorded yet
				}
				finished++
				d.nothingOf(secret, writes)
				if t.Failed() {
					t.Fatalf("%v ended with %d\n%s", c.finish, code, out)
				}
				d.whole(spared)
				code, export := d.run("export", doomed)
				switch {
				case !c.stays && code != 3:
					t.Errorf("killed at write %d: export ends with %d, want 3 (not found)", writes, code)
				case c.stays && (code != 0 || !strings.Contains(export, "the first of three") || !strings.Contains(export, "the last of three")):
					t.Errorf("killed at write %d: other turns of the session are lost (exit %d)", writes, code)
				}
				if code, out := d.run("verify"); code != 0 {
					t.Errorf("killed at write %d: verify ends with %d\n%s", writes, code, out)
				}
			}
			if finished < 4 {
				t.Errorf("only %d deletions were killed and finished", finished)
			}
			t.Logf("killed at %d different writes, %d times after it was recorded", killed, finished)
		})
	}
}

func newDeletions(t *testing.T, side bool) *deletions {
	d := &deletions{t: t, root: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d.program = filepath.Join(d.root, "strandline") // TestMain dispatches by this name
	if err := os.Symlink(self, d.program); err != nil {
		t.Fatal(err)
	}
	d.write(doomed+".jsonl", d.transcript(doomed, "the first of three", "the word for the vault is "+secret, "the last of three"))
	if side { // deleted with the session, but not with a turn that does not name it
		d.write(filepath.Join(doomed, "tool-results", "toolu_1.txt"), []byte("output with the "+secret+" in it\n"))
	}
	d.write(spared+".jsonl", d.transcript(spared, "another session", "with turns of its own"))
	for _, args := range [][]string{{"import"}, {"maintain"}} {
		if code, out := d.run(args...); code != 0 {
			t.Fatalf("%v ends with %d\n%s", args, code, out)
		}
	}
	if err := os.CopyFS(d.path("before"), os.DirFS(d.path("archive"))); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *deletions) path(name string) string { return filepath.Join(d.root, name) }

func (d *deletions) source(name string) string {
	return filepath.Join(d.root, "home", ".claude", "projects", "-home-dev-shop", name)
}

func (d *deletions) write(name string, data []byte) {
	d.t.Helper()
	path := d.source(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
		d.t.Fatal(err)
	}
}

func (d *deletions) transcript(session string, prompts ...string) []byte {
	d.t.Helper()
	var out bytes.Buffer
	s := synth.New(&out, synth.Options{
		Session: session, Cwd: "/home/dev/shop", Branch: "main", Version: "2.1.0", Model: "claude-opus-5-5",
		Start: time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC), Seed: uint64(session[0]), Context: 12000,
	})
	s.Begin()
	for _, p := range prompts {
		s.Prompt(p)
		call := s.Use("Bash", synth.Row{}.Str("command", "go test ./pay"))
		s.Respond()
		s.Answer(call, "ok "+p, false, nil)
		s.Say("I have seen that " + p + ".")
		s.Respond()
		s.EndTurn()
		s.Wait(time.Minute)
	}
	if err := s.Err(); err != nil {
		d.t.Fatal(err)
	}
	return out.Bytes()
}

// restore restores the archive from before the deletion.
func (d *deletions) restore() {
	d.t.Helper()
	if err := errors.Join(os.RemoveAll(d.path("archive")), os.CopyFS(d.path("archive"), os.DirFS(d.path("before")))); err != nil {
		d.t.Fatal(err)
	}
}

func (d *deletions) command(args ...string) *exec.Cmd {
	cmd := exec.Command(d.program, args...)
	cmd.Env = append(os.Environ(), "HOME="+d.path("home"), "STRANDLINE_HOME="+d.path("archive"),
		"CLAUDE_CONFIG_DIR="+filepath.Join(d.path("home"), ".claude"), "XDG_CONFIG_HOME="+d.path("config"),
		"NO_COLOR=1", "STRANDLINE_LIFECYCLE_AUTO=false")
	return cmd
}

func (d *deletions) run(args ...string) (code int, out string) {
	d.t.Helper()
	var text bytes.Buffer
	cmd := d.command(args...)
	cmd.Stdout, cmd.Stderr = &text, &text
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		d.t.Fatal(err)
	} else if ok {
		code = exit.ExitCode()
	}
	return code, text.String()
}

// kill runs the program and kills it at the nth observed write. It returns false if
// the program ended before.
func (d *deletions) kill(write int, args ...string) bool {
	d.t.Helper()
	return killAt(d.t, d.command(args...), write, d.files, func(p *os.Process) error { return p.Kill() })
}

// killAt runs a program and kills it, or what kill kills, when what files describes has
// changed so often. It returns false if the program ended before, without an error.
func killAt(t *testing.T, cmd *exec.Cmd, write int, files func() string, kill func(*os.Process) error) bool {
	t.Helper()
	before := files()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for write > 0 {
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("%v: %v\n%s", cmd.Args, err, said.String())
			}
			return false
		default:
		}
		if now := files(); now != before {
			before = now
			write--
		}
	}
	if err := kill(cmd.Process); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	_, ok := errors.AsType[*exec.ExitError](<-done)
	return ok
}

// files describes the archive's files with sizes and modification times.
func (d *deletions) files() string { return describeFiles(d.path("archive")) }

func describeFiles(root string) string {
	var b strings.Builder
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil {
			if info, err := e.Info(); err == nil && !e.IsDir() {
				fmt.Fprintf(&b, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
			}
		}
		return nil // a file may have been deleted already
	})
	return b.String()
}

// whole fails unless a session's export equals its transcript.
func (d *deletions) whole(session string) {
	d.t.Helper()
	if !d.isWhole(session) {
		d.t.Errorf("session %.8s has lost bytes", session)
	}
}

func (d *deletions) isWhole(session string) bool {
	d.t.Helper()
	want, err := os.ReadFile(d.source(session + ".jsonl"))
	if err != nil {
		d.t.Fatal(err)
	}
	code, got := d.run("export", session)
	return code == 0 && got == string(want)
}

// nothingOf fails if a file of the archive contains a text, raw or decompressed.
func (d *deletions) nothingOf(text string, write int) {
	d.t.Helper()
	err := filepath.WalkDir(d.path("archive"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".zst") {
			r, err := zstd.NewReader(nil)
			if err != nil {
				return err
			}
			defer r.Close()
			plain, err := r.DecodeAll(data, nil)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			data = append(data, plain...)
		}
		if bytes.Contains(data, []byte(text)) {
			d.t.Errorf("killed at write %d: %s still contains it", write, path)
		}
		return nil
	})
	if err != nil {
		d.t.Error(err)
	}
}
