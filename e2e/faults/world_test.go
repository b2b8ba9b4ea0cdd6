//go:build linux && amd64

package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"strandline/bench/synth"
)

// The sessions of a world. Each turn of one says a word that no other turn says.
const (
	live   = "7f3a12cd-0000-4000-8000-000000000001" // the client continues it
	only   = "9b1c44ee-0000-4000-8000-000000000002" // the client has deleted its file
	gone   = "c0ffee00-0000-4000-8000-000000000003" // forgotten, but the client has it
	doomed = "d00d0000-0000-4000-8000-000000000004" // the operation forget deletes it
	agent  = "subagents/agent-a1b2.jsonl"           // a file of live
	result = "tool-results/toolu_1.txt"             // as agent

	task = "mend the lamp" // of live, from the payload of a hook

	turns = 5 // of each session; the last one of live is new to the operation
)

// word returns the word that only one turn of a session says.
func word(session string, turn int) string { return fmt.Sprintf("zephyr%s%d", session[:4], turn) }

// common is said by all turns.
const common = "lighthouse"

// world is an archive, a client's folder and the program, all below one folder.
type world struct {
	t       testing.TB
	dir     string
	program string
	env     []string
	client  map[string][]byte // each transcript whole, by session
	ends    map[string][]int  // the end of each turn in it
	holes   map[string]bool   // the words in reported holes
	synced  map[fileID][]byte // what a power cut would leave
	held    []func() error    // release locks
}

// newWorld makes a world below dir: as its user would, with hooks.
func newWorld(t testing.TB, dir, program string) *world {
	w := &world{t: t, dir: dir, program: program, client: map[string][]byte{}, ends: map[string][]int{}}
	w.env = append(os.Environ(), "HOME="+w.path("home"), "STRANDLINE_HOME="+w.path("archive"), "CLAUDE_CONFIG_DIR="+w.path("home/.claude"),
		"XDG_CONFIG_HOME="+w.path("config"), "XDG_DATA_HOME=", "CLAUDE_PROJECT_DIR=", "NO_COLOR=1", "TZ=UTC",
		"STRANDLINE_LIFECYCLE_AUTO=false", "STRANDLINE_HOOK_DEADLINE=5s")
	for _, s := range []string{live, only, gone, doomed} {
		w.converse(s)
		w.write(w.transcript(s), w.client[s][:w.ends[s][0]])
		w.must(w.hook("SessionStart", s, "source=startup"))
		for turn := 1; turn < turns-1; turn++ { // a frame of the log each
			if s == live && turn == 2 {
				w.write(w.path("before/log.zst"), w.read(w.log(live, "")))
			}
			w.write(w.transcript(s), w.client[s][:w.ends[s][turn]])
			w.must(w.hook("Stop", s))
		}
		if s == only {
			w.write(w.path("before/index.db"), w.read(w.path("archive/index.db")))
		}
	}
	w.write(w.side(live, agent), w.client[only][:w.ends[only][1]])
	w.write(w.side(live, result), []byte("the whole output, "+common+"\n"))
	w.must(w.hook("TaskCreated", live, "task_id=1", "task_subject="+task))
	w.must(w.hook("SessionStart", live, "source=compact")) // notes what it injected
	w.must(w.hook("Stop", live))
	w.must(w.command("forget", gone, "--yes"))
	w.must(w.command("maintain"))
	w.check(os.Remove(w.transcript(only)))
	w.check(copyTree(w.path("before/archive"), w.path("archive")))
	w.check(copyTree(w.path("before/home"), w.path("home")))
	return w
}

// converse writes the transcript of a session.
func (w *world) converse(session string) {
	var out bytes.Buffer
	s := synth.New(&out, synth.Options{
		Session: session, Cwd: "/home/dev/shop", Branch: "main", Version: "2.1.0", Model: "claude-opus-5-5",
		Start: time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC), Seed: uint64(session[0]), Context: 12000,
	})
	s.Begin()
	for turn := range turns {
		s.Prompt(fmt.Sprintf("Mend the lamp %s of the %s", word(session, turn), common))
		call := s.Use("Bash", synth.Row{}.Str("command", fmt.Sprintf("go test ./lamp -run Test%d", turn)))
		s.Respond()
		s.Answer(call, fmt.Sprintf("ok lamp %d.2s\n", turn), false, nil)
		s.Say(fmt.Sprintf("The lamp %d of the %s burns because I trimmed the wick.", turn, common))
		s.Respond()
		s.EndTurn()
		s.Wait(time.Minute)
		w.ends[session] = append(w.ends[session], out.Len())
	}
	w.check(s.Err())
	w.client[session] = out.Bytes()
}

func (w *world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w *world) transcript(session string) string {
	return w.path("home/.claude/projects/-home-dev-shop/" + session + ".jsonl")
}

func (w *world) side(session, rel string) string {
	return filepath.Join(strings.TrimSuffix(w.transcript(session), ".jsonl"), filepath.FromSlash(rel))
}

// log is the path of the log of a session, or of a file of it.
func (w *world) log(session, rel string) string {
	name := session + ".jsonl"
	if rel != "" {
		name = session + "/" + rel
	}
	return w.path("archive/log/claude/-home-dev-shop/" + name + ".zst")
}

// captured is what the archive has of a session before an operation.
func (w *world) captured(session string) []byte { return w.client[session][:w.ends[session][turns-2]] }

// continues appends the last turn to the client's file of live.
func (w *world) continues() {
	w.add(string(w.client[live][w.ends[live][turns-2]:]))
}

// add appends a text to the client's file of live.
func (w *world) add(text string) {
	f, err := os.OpenFile(w.transcript(live), os.O_APPEND|os.O_WRONLY, 0o600)
	w.check(err)
	_, err = f.WriteString(text)
	w.check(errors.Join(err, f.Close()))
}

// reset restores the state after newWorld. The client's files stay the same files.
func (w *world) reset() {
	w.check(os.RemoveAll(w.path("archive")))
	w.check(copyTree(w.path("archive"), w.path("before/archive")))
	for _, name := range []string{"out", "moved", "elsewhere"} {
		w.check(os.RemoveAll(w.path(name)))
	}
	w.check(filepath.WalkDir(w.path("home"), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(w.path("before/home") + path[len(w.path("home")):])
		if err == nil && info.Mode().Type() == e.Type() {
			return nil
		}
		if err = os.RemoveAll(path); err == nil && e.IsDir() {
			return fs.SkipDir
		}
		return err
	}))
	w.check(copyTree(w.path("home"), w.path("before/home")))
}

// copyTree copies a folder with its times. Existing files get the content.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := to + path[len(from):]
		if e.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return errors.Join(os.WriteFile(target, data, 0o600), os.Chtimes(target, info.ModTime(), info.ModTime()))
	})
}

// eachFile calls fn with each regular file of the archive, also of logs that were
// moved elsewhere.
func (w *world) eachFile(fn func(path string)) {
	for _, dir := range []string{w.path("archive"), w.path("moved")} {
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				fn(path)
			}
			return nil // it may have been deleted
		})
	}
}

func (w *world) read(path string) []byte {
	w.t.Helper()
	data, err := os.ReadFile(path)
	w.check(err)
	return data
}

func (w *world) write(path string, data []byte) {
	w.t.Helper()
	w.check(errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)))
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// job is a run of the program.
type job struct {
	args  []string
	stdin string
	drive func(out io.Reader) error // talks to it until its stdin is closed; nil for none
}

func (w *world) command(args ...string) job { return job{args: args} }

// hook returns the call of a hook with its payload.
func (w *world) hook(event, session string, more ...string) job {
	fields := append([]string{"hook_event_name=" + event, "session_id=" + session, "transcript_path=" + w.transcript(session), "cwd=/home/dev/shop"}, more...)
	for i, f := range fields {
		k, v, _ := strings.Cut(f, "=")
		fields[i] = fmt.Sprintf("%q: %q", k, v)
	}
	return job{args: []string{"hook"}, stdin: "{" + strings.Join(fields, ", ") + "}\n"}
}

// output is what a run left behind.
type output struct {
	job job
	ending
	stdout, stderr string
	drive          error
}

func (w *world) must(j job) {
	w.t.Helper()
	if out := w.run(j, nil); out.code != 0 || out.stderr != "" || out.drive != nil {
		w.t.Fatalf("%v ends with %d %v\n%s", j.args, out.code, out.drive, out.stderr)
	}
}

// run runs the program until it and all processes that it started have ended. With a
// tap it is traced.
func (w *world) run(j job, on *tap) (out output) {
	w.t.Helper()
	out.job = j
	// A tracer waits for all children of its thread: none may be a program that another
	// goroutine started there and waits for.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(w.program, j.args...)
	cmd.Env, cmd.Dir = w.env, w.dir
	dir, err := os.MkdirTemp(filepath.Dir(w.dir), "io")
	w.check(err)
	defer os.RemoveAll(dir)
	w.write(filepath.Join(dir, "in"), []byte(j.stdin))
	var files []*os.File
	for name, how := range map[string]int{"in": os.O_RDONLY, "out": os.O_WRONLY, "err": os.O_WRONLY} {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|how, 0o600)
		w.check(err)
		files = append(files, f)
		switch name {
		case "in":
			cmd.Stdin = f
		case "out":
			cmd.Stdout = f
		default:
			cmd.Stderr = f
		}
	}
	driven := make(chan error, 1)
	driven <- nil
	if j.drive != nil {
		r, toProgram, err := os.Pipe()
		w.check(err)
		fromProgram, wr, err := os.Pipe()
		w.check(err)
		cmd.Stdin, cmd.Stdout = r, wr
		files = append(files, r, wr)
		<-driven //nolint:errcheck // the token that was put into it
		go func() {
			err := j.drive(fromProgram)
			driven <- errors.Join(err, toProgram.Close(), fromProgram.Close())
		}()
	}
	ended, inherited, err := os.Pipe() // descendants inherit the writing end
	w.check(err)
	cmd.ExtraFiles = []*os.File{inherited}
	if on != nil {
		traced := *on
		traced.root = w.dir
		out.ending, err = trace(cmd, traced)
		w.check(err)
	} else {
		w.check(cmd.Start())
		err := cmd.Wait()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			out.code = exit.ExitCode()
		} else {
			w.check(err)
		}
	}
	for _, f := range append(files, inherited) {
		w.check(f.Close())
	}
	_, err = io.Copy(io.Discard, ended) // until the last descendant has ended
	w.check(errors.Join(err, ended.Close()))
	out.drive = <-driven
	out.stdout, out.stderr = string(w.read(filepath.Join(dir, "out"))), string(w.read(filepath.Join(dir, "err")))
	return out
}

// fileID identifies a file, whatever its name.
type fileID struct {
	inode   uint64
	created unix.StatxTimestamp
}

func idOf(path string) fileID {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return fileID{}
	}
	return fileID{st.Ino, st.Btime}
}
