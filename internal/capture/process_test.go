//go:build unix

package capture_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index/sqlite"
)

// These tests run captures in separate processes, as hooks do, in parallel and killed.

const childEnv = "STRANDLINE_CAPTURE_CHILD"

func TestMain(m *testing.M) {
	if args := os.Getenv(childEnv); args != "" {
		if err := child(strings.Split(args, "|")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child captures one session once, like a hook: client|home|session.
func child(args []string) error {
	w := worldAt(nil, args[0], args[1])
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	got, err := w.capture.LogSession(ctx, mustSource(w.path(args[2]), args[2]), false)
	if err != nil {
		return err
	}
	s, err := sqlite.Open(ctx, filepath.Join(w.home, "index.db"), sqlite.Options{BusyTimeout: time.Minute})
	if err != nil {
		return err
	}
	return errors.Join(w.capture.IndexAll(ctx, s, got.Sessions), s.Close())
}

// start runs a child.
func (w *world) start(session string) (*exec.Cmd, *bytes.Buffer) {
	w.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join([]string{w.client, w.home, session}, "|"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return cmd, &stderr
}

// TestParallelHooks runs 32 hooks on growing sessions: no byte is lost or logged twice.
func TestParallelHooks(t *testing.T) {
	w := newWorld(t)
	if err := os.MkdirAll(w.home, 0o700); err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{sessionA: transcriptOf(sessionA, 1, 8), sessionB: transcriptOf(sessionB, 2, 8)}
	const hooks = 32
	var wg sync.WaitGroup
	for i := range hooks {
		session := []string{sessionA, sessionB}[i%2]
		whole := texts[session]
		from, to := len(whole)*(i/2)/(hooks/2), len(whole)*(i/2+1)/(hooks/2)
		w.appendTo(w.path(session), whole[from:to])
		cmd, stderr := w.start(session)
		wg.Go(func() {
			if err := cmd.Wait(); err != nil {
				t.Errorf("hook %d: %v\n%s", i, err, stderr)
			}
		})
	}
	wg.Wait()
	for session, whole := range texts {
		w.hook(session)
		sameBytes(t, "log", w.export(session, 0), whole)
	}
	if got, want := w.dump("index.db"), w.reindex("other.db"); got != want {
		t.Errorf("index: %s", firstDifference(got, want))
	}
}

// TestKilledCaptures kills captures at random moments: a later hook completes them.
// STRANDLINE_KILLS sets the number.
func TestKilledCaptures(t *testing.T) {
	kills := 25
	if n, err := strconv.Atoi(os.Getenv("STRANDLINE_KILLS")); err == nil {
		kills = n
	}
	w := newWorld(t)
	if err := os.MkdirAll(w.home, 0o700); err != nil {
		t.Fatal(err)
	}
	whole := transcriptOf(sessionA, 1, kills)
	rnd := rand.New(rand.NewPCG(1, 2))
	hit := 0
	for i := range kills {
		w.appendTo(w.path(sessionA), whole[len(whole)*i/kills:len(whole)*(i+1)/kills])
		seen := w.state()
		cmd, _ := w.start(sessionA)
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		// The kill follows the first to sixth visible write: to the log, to the index's
		// write-ahead log, or to the index itself.
		for range 1 + rnd.IntN(6) {
			seen = w.waitForWrite(seen, done)
		}
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		var ended *exec.ExitError
		if errors.As(<-done, &ended) && !ended.Exited() {
			hit++ // by the signal, and not before it
		}
	}
	if hit == 0 {
		t.Error("no capture was killed: the test shows nothing")
	}
	t.Logf("%d of %d captures were killed while they ran", hit, kills)
	w.hook(sessionA)
	sameBytes(t, "log", w.export(sessionA, 0), whole)
	if got, want := w.dump("index.db"), w.reindex("other.db"); got != want {
		t.Errorf("index: %s", firstDifference(got, want))
	}
}

// state holds the sizes of an archive's files.
func (w *world) state() string {
	var b strings.Builder
	for _, p := range []string{
		filepath.Join(w.home, "log", "claude", "-home-dev-shop", sessionA+".jsonl.zst"),
		filepath.Join(w.home, "index.db-wal"), filepath.Join(w.home, "index.db"),
	} {
		if info, err := os.Stat(p); err == nil {
			fmt.Fprintf(&b, "%d %d ", info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// waitForWrite returns the new state when the archive changes or the child ends.
func (w *world) waitForWrite(before string, done chan error) string {
	for {
		if now := w.state(); now != before {
			return now
		}
		select {
		case err := <-done:
			done <- err
			return before
		default:
		}
	}
}

func TestFullDiskCapture(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 2))
	w.hook(sessionA)
	whole := transcriptOf(sessionA, 1, 200)
	w.write(w.path(sessionA), append([]byte{}, whole...))
	// A limit on file sizes simulates a full disk: a write beyond it fails in the same
	// way.
	cmd := exec.Command("sh", "-c", `ulimit -f 16; trap "" XFSZ; exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join([]string{w.client, w.home, sessionA}, "|"))
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("a capture beyond the limit succeeded: %s", out)
	}
	logged := w.export(sessionA, 0)
	if !bytes.HasPrefix(whole, logged) {
		t.Error("the log is not a prefix of the transcript")
	}
	w.hook(sessionA)
	sameBytes(t, "log", w.export(sessionA, 0), whole)
	if got, want := w.dump("index.db"), w.reindex("other.db"); got != want {
		t.Errorf("index: %s", firstDifference(got, want))
	}
}

func TestReadOnlyArchive(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
	if err := os.MkdirAll(filepath.Dir(w.home), 0o700); err != nil {
		t.Fatal(err)
	}
	// A file where the folder should be is an error for root as well.
	if err := os.WriteFile(w.home, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := w.capture.LogSession(context.Background(), w.source(sessionA), true)
	if err == nil {
		t.Fatal("it was captured into nothing")
	}
	if err := os.Remove(w.home); err != nil {
		t.Fatal(err)
	}
	w.hook(sessionA)
	sameBytes(t, "log", w.export(sessionA, 0), transcriptOf(sessionA, 1, 1))
}

func TestLockedIndex(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
	w.hook(sessionA)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 2))
	ctx := context.Background()
	s, err := sqlite.Open(ctx, filepath.Join(w.home, "index.db"), sqlite.Options{BusyTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	release := w.holdIndex()
	got, err := w.capture.LogSession(ctx, w.source(sessionA), false)
	if err != nil {
		t.Fatal(err)
	}
	err = w.capture.IndexAll(ctx, s, got.Sessions)
	release()
	if archive.ErrorCode(err) != archive.CodeBusy {
		t.Errorf("got %v, want CodeBusy", err)
	}
	sameBytes(t, "log", w.export(sessionA, 0), transcriptOf(sessionA, 1, 2))
	w.hook(sessionA)
	if got, want := w.dump("index.db"), w.reindex("other.db"); got != want {
		t.Errorf("index: %s", firstDifference(got, want))
	}
}
