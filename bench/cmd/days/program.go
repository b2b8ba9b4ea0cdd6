package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"strandline/bench/times/rusage"
)

// result is a finished run of the program.
type result struct {
	code           int
	stdout, stderr string
}

// killed is the code of a program that was killed.
const killed = -1

// start runs the program. After killAfter, if that is not 0, it is killed.
func (w *world) start(ctx context.Context, killAfter time.Duration, stdin string, args ...string) (r result) {
	peak := filepath.Join(w.dir, fmt.Sprintf("peak%d", w.runs.Add(1)))
	cmd := exec.CommandContext(ctx, w.launcher, append([]string{peak, w.program}, args...)...)
	rusage.Group(cmd)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = w.env, w.dir, strings.NewReader(stdin), &out, &errs
	err := cmd.Start()
	if err == nil {
		if killAfter > 0 {
			defer time.AfterFunc(killAfter, func() { _ = cmd.Cancel() }).Stop()
		}
		err = cmd.Wait()
	}
	r = result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended && ctx.Err() == nil {
		w.fault("run %v: %v", args, err)
	}
	memory, _ := os.ReadFile(peak) // missing after a kill
	_ = os.Remove(peak)
	n, _ := strconv.ParseInt(string(memory), 10, 64)
	w.mu.Lock()
	w.count[args[0]]++
	w.peak[args[0]] = max(w.peak[args[0]], n)
	w.mu.Unlock()
	if strings.Contains(r.stderr+r.stdout, "goroutine ") {
		w.fault("%v panics: %s", args, r.stderr)
	}
	return r
}

// command runs a command, which must end with one of the codes.
func (w *world) command(ctx context.Context, codes []int, args ...string) result {
	r := w.start(ctx, 0, "", args...)
	if ctx.Err() == nil && !slices.Contains(codes, r.code) {
		w.fault("%v ends with %d: %s", args, r.code, strings.TrimSpace(r.stderr+r.stdout))
	}
	return r
}

// hook calls the hook of an event. One of thirty is killed.
func (w *world) hook(ctx context.Context, chance *rand.Rand, s *session, event string, more ...string) {
	fields := map[string]string{"hook_event_name": event, "session_id": s.id, "transcript_path": s.file, "cwd": "/home/dev"}
	for _, f := range more {
		k, v, _ := strings.Cut(f, "=")
		fields[k] = v
	}
	payload, err := json.Marshal(fields)
	if err != nil {
		w.fault("payload: %v", err)
		return
	}
	killAfter := time.Duration(0)
	if chance.IntN(30) == 0 {
		killAfter = time.Duration(1+chance.IntN(20)) * time.Millisecond
	}
	r := w.start(ctx, killAfter, string(payload), "hook")
	if ctx.Err() == nil && killAfter == 0 && (r.code != 0 || r.stderr != "") {
		w.fault("the hook %s ends with %d: %s", event, r.code, r.stderr)
	}
}

// upkeep runs what users and schedules run. Another process may hold a lock (5), and
// what is asked for may be forgotten meanwhile (3).
func (w *world) upkeep(ctx context.Context, chance *rand.Rand) {
	for ctx.Err() == nil {
		s := w.ended(chance)
		if s == nil {
			continue
		}
		switch n := chance.IntN(40); {
		case n < 4:
			w.command(ctx, []int{0, 5}, "import")
		case n < 8:
			w.command(ctx, []int{0, 5}, "maintain")
		case n < 9:
			w.command(ctx, []int{0, 5}, "maintain", "--compact")
		case n < 10:
			w.command(ctx, []int{0, 5}, "reindex")
		case n < 11: // a maintenance run is killed
			w.start(ctx, time.Duration(1+chance.IntN(200))*time.Millisecond, "", "maintain")
		case n < 12:
			w.forget(ctx, chance, s)
		case n < 14:
			w.command(ctx, []int{0}, "verify")
		case n < 15 && w.postgres != "":
			w.command(ctx, []int{0, 5}, "sync", "--dsn", w.postgres)
		case n < 22:
			w.command(ctx, []int{0}, "search", "--all", "--json", s.secret)
		case n < 28:
			w.command(ctx, []int{0, 3}, "restore", "--session", s.id)
		case n < 32:
			w.command(ctx, []int{0, 3}, "compact", "--session", s.id)
		case n < 34:
			w.command(ctx, []int{0, 3}, "show", s.id)
		case n < 36:
			w.command(ctx, []int{0}, "status")
		default:
			w.command(ctx, []int{0, 3}, "export", s.id)
		}
	}
}

// ended returns a session that has ended, nil if there is none yet.
func (w *world) ended(chance *rand.Rand) *session {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.all) == 0 {
		return nil
	}
	if s := w.all[chance.IntN(len(w.all))]; s.ended && !s.forgotten && !s.doubtful {
		return s
	}
	return nil
}

// forget deletes a session for good. Some deletions are killed, by chance or at the end
// of the day; maintenance then completes those that have begun.
func (w *world) forget(ctx context.Context, chance *rand.Rand, s *session) {
	killAfter := time.Duration(0)
	if chance.IntN(3) == 0 {
		killAfter = time.Duration(1+chance.IntN(150)) * time.Millisecond
	}
	r := w.start(ctx, killAfter, "", "forget", s.id, "--yes")
	w.mu.Lock()
	s.forgotten, s.doubtful = r.code == 0, r.code == killed
	w.mu.Unlock()
	if !slices.Contains([]int{0, 3, 5, killed}, r.code) {
		w.fault("forget ends with %d: %s", r.code, r.stderr)
	}
}

// server is a running `strandline serve`.
type server struct {
	cmd        *exec.Cmd
	stdin      io.Closer
	url, token string
	once       sync.Once
}

func (w *world) serve(ctx context.Context) (*server, error) {
	cmd := exec.CommandContext(ctx, w.program, "serve", "--json", "--until-eof")
	cmd.Env, cmd.Dir, cmd.Stderr = w.env, w.dir, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	var started struct {
		URL       string
		TokenFile string `json:"token_file"`
	}
	if err := json.NewDecoder(out).Decode(&started); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	token, err := os.ReadFile(started.TokenFile)
	return &server{cmd: cmd, stdin: in, url: started.URL, token: strings.TrimSpace(string(token))}, err
}

func (s *server) end() {
	s.once.Do(func() { _ = errors.Join(s.stdin.Close(), s.cmd.Wait()) }) // nothing depends on it
}

// read asks the server. An index that is being replaced may be busy.
func (w *world) read(ctx context.Context, server *server, chance *rand.Rand) {
	paths := []string{"/api/v1/sessions", "/api/v1/stats", "/api/v1/search?q=lamp+flickers", "/api/v1/status", "/api/v1/compactions"}
	for ctx.Err() == nil {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.url+paths[chance.IntN(len(paths))], nil)
		if err != nil {
			w.fault("request: %v", err)
			return
		}
		r.Header.Set("Authorization", "Bearer "+server.token)
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
			err = errors.Join(err, answer.Body.Close())
		}
		switch {
		case ctx.Err() != nil:
		case err != nil:
			w.fault("ask the server: %v", err)
		case answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusServiceUnavailable && answer.StatusCode != http.StatusNotFound:
			w.fault("%s answers %s", r.URL.Path, answer.Status)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(20+chance.IntN(200)) * time.Millisecond):
		}
	}
}
