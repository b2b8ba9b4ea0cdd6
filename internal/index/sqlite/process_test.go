package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index/indextest"
	"strandline/internal/index/sqlite"
)

// The tests of several processes run this binary again, with a role in the environment.
const (
	envRole  = "STRANDLINE_TEST_ROLE"
	envIndex = "STRANDLINE_TEST_INDEX"
	envName  = "STRANDLINE_TEST_NAME"
)

func TestMain(m *testing.M) {
	var err error
	switch role := os.Getenv(envRole); role {
	case "":
		os.Exit(m.Run())
	case "holder":
		err = hold(os.Getenv(envIndex))
	case "writer":
		err = writeTurns(os.Getenv(envIndex), os.Getenv(envName))
	case "nobody":
		err = readAsNobody(os.Getenv(envIndex))
	default:
		err = fmt.Errorf("unknown role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process returns a command that runs a child with a role.
func process(t *testing.T, role, index, name string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), envRole+"="+role, envIndex+"="+index, envName+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// hold locks the index until its input ends.
func hold(index string) error {
	db, err := rawDB(index)
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(context.Background())
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	fmt.Println("locked")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

const turnsPerWriter = 20

func writerID(name string) string { return fmt.Sprintf("%08s-0000-4000-8000-000000000000", name) }

// writeTurns opens the index for each turn, as hooks do. It skips stored turns.
func writeTurns(index, name string) error {
	for i := range turnsPerWriter {
		s, err := sqlite.Open(context.Background(), index, sqlite.Options{BusyTimeout: time.Minute})
		if err != nil {
			return err
		}
		b := oneTurn(writerID(name), "unique"+name)
		b.Turns[0].Index, b.Passages[0].Turn, b.Passages[1].Turn = i, i, i
		b.Session.Turns = i + 1
		b.From, b.Cursor.Offset = int64(10*i), int64(10*i+10)
		b.Keys = []archive.Identity{{Key: uint64(i), Ref: archive.Ref{Session: b.Session.ID, Turn: i}}}
		if err := s.Apply(context.Background(), b); err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// start starts the holder and waits until it has the lock.
func startHolder(t *testing.T, index string) (release func()) {
	t.Helper()
	cmd := process(t, "holder", index, "")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "locked\n" {
		t.Fatalf("the holder printed %q (%v)", line, err)
	}
	return func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

func TestLockedByAnotherProcess(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, sqlite.Options{BusyTimeout: time.Millisecond})
	release := startHolder(t, path)
	wantCode(t, s.Apply(t.Context(), oneTurn(sessionID, "words")), archive.CodeBusy, "try again")

	// Reading and opening do not wait.
	if _, err := s.Sessions(t.Context(), archive.SessionFilter{}); err != nil {
		t.Errorf("reading: %v", err)
	}
	mustOpen(t, path, sqlite.Options{BusyTimeout: time.Millisecond})

	release()
	if err := s.Apply(t.Context(), oneTurn(sessionID, "words")); err != nil {
		t.Errorf("after the lock: %v", err)
	}
}

// Processes that create an index and write to it at the same time lose and duplicate no
// rows.
func TestConcurrentWriters(t *testing.T) {
	path := newPath(t)
	var cmds []*exec.Cmd
	for i := range 4 {
		cmd := process(t, "writer", path, fmt.Sprint(i))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	s := mustOpen(t, path, sqlite.Options{})
	for i := range cmds {
		turns, err := s.Turns(t.Context(), archive.Span{Session: writerID(fmt.Sprint(i))})
		if err != nil || len(turns) != turnsPerWriter {
			t.Errorf("writer %d left %d turns (%v), want %d", i, len(turns), err, turnsPerWriter)
		}
		hits, err := s.Search(t.Context(), archive.Query{Terms: []archive.Term{{Text: fmt.Sprint("unique", i), Weight: 1}}, Limit: 100})
		if err != nil || len(hits) != turnsPerWriter {
			t.Errorf("%d hits of writer %d (%v), want %d", len(hits), i, err, turnsPerWriter)
		}
	}
	if err := s.Integrity(t.Context()); err != nil {
		t.Error(err)
	}
}

// After a writer is killed at any time, the next one completes the index.
func TestKilledWriter(t *testing.T) {
	path := newPath(t)
	for round := range 5 {
		cmd := process(t, "writer", path, "0")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// It is killed after it wrote that many turns.
		waitForTurns(t, path, min(1+4*round, turnsPerWriter-1))
		_ = cmd.Process.Kill() // it may have exited already
		_ = cmd.Wait()
	}
	if err := writeTurns(path, "0"); err != nil {
		t.Fatal(err)
	}
	clean := newPath(t)
	if err := writeTurns(clean, "0"); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, path, sqlite.Options{})
	if err := s.Integrity(t.Context()); err != nil {
		t.Error(err)
	}
	have, want := indextest.Dump(t, s), indextest.Dump(t, mustOpen(t, clean, sqlite.Options{}))
	if have != want {
		t.Errorf("rows differ after kills:\nhave %d lines\nwant %d lines", strings.Count(have, "\n"), strings.Count(want, "\n"))
	}
}

func waitForTurns(t *testing.T, path string, n int) {
	t.Helper()
	for t.Context().Err() == nil {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{BusyTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		turns, err := s.Turns(t.Context(), archive.Span{Session: writerID("0")})
		if closed := s.Close(); err != nil || closed != nil {
			t.Fatal(err, closed)
		}
		if len(turns) >= n {
			return
		}
	}
}
