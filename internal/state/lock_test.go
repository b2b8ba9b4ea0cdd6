package state_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"strandline/internal/state"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("LOCKFILE_TEST_HOLD"); path != "" {
		hold(path)
		return
	}
	os.Exit(m.Run())
}

// hold takes the lock, prints "held" and keeps the lock until stdin ends.
func hold(path string) {
	if _, err := state.TryLock(path); err != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString("held\n")
	os.Stdin.Read(make([]byte, 1))
}

func TestLockIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "x.lock")
	first, err := state.TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := state.TryLock(path); !errors.Is(err, state.ErrHeld) {
		t.Fatalf("second TryLock: got %v, want ErrHeld", err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := state.TryLock(path)
	if err != nil {
		t.Fatalf("TryLock after Release: %v", err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestLockIsReleasedWhenItsProcessEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LOCKFILE_TEST_HOLD="+path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.Read(make([]byte, 5)); err != nil {
		t.Fatalf("the child did not take the lock: %v", err)
	}
	if _, err := state.TryLock(path); !errors.Is(err, state.ErrHeld) {
		t.Errorf("TryLock while the child holds it: got %v, want ErrHeld", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed on purpose
	lock, err := state.TryLock(path)
	if err != nil {
		t.Fatalf("TryLock after the child was killed: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestSharedLockExcludesExclusiveLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	ctx := t.Context()
	var shared []*state.Lock
	for range 2 {
		l, err := state.WaitLock(ctx, path, true)
		if err != nil {
			t.Fatal(err)
		}
		shared = append(shared, l)
	}
	if _, err := state.TryLock(path); !errors.Is(err, state.ErrHeld) {
		t.Errorf("TryLock with shared holders: got %v, want ErrHeld", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := state.WaitLock(ended, path, false); !errors.Is(err, state.ErrHeld) {
		t.Errorf("WaitLock with an ended context: got %v, want ErrHeld", err)
	}
	got := make(chan error, 1)
	go func() {
		l, err := state.WaitLock(ctx, path, false)
		if err == nil {
			err = l.Release()
		}
		got <- err
	}()
	for _, l := range shared {
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-got; err != nil {
		t.Errorf("WaitLock until the shared locks were released: %v", err)
	}
}

func TestLockInAnUnusableFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := state.TryLock(filepath.Join(file, "x.lock")); err == nil || errors.Is(err, state.ErrHeld) {
		t.Errorf("got %v, want an error that is not ErrHeld", err)
	}
}
