package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrHeld is returned when another process holds the lock.
var ErrHeld = errors.New("held by another process")

// Lock is an advisory lock between processes. It is released when its process
// ends.
type Lock struct{ file *os.File }

// TryLock takes the lock at path without waiting. It creates a missing lock file,
// which is never deleted. The error is ErrHeld if another process has the lock.
func TryLock(path string) (*Lock, error) { return take(path, false) }

// WaitLock takes the lock at path, exclusively or shared with other shared
// holders. It waits until ctx ends; the error is then ErrHeld.
func WaitLock(ctx context.Context, path string, shared bool) (*Lock, error) {
	for {
		l, err := take(path, shared)
		if !errors.Is(err, ErrHeld) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pollInterval):
		}
	}
}

// pollInterval is the time between two attempts. Locks are held for milliseconds.
const pollInterval = 5 * time.Millisecond

func take(path string, shared bool) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("take lock: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil && shared {
		if r, rerr := os.Open(path); rerr == nil { // a shared lock works on a read-only file
			f, err = r, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("take lock: %w", err)
	}
	if err := LockFile(f, shared); err != nil {
		return nil, fmt.Errorf("take lock %s: %w", path, errors.Join(err, f.Close()))
	}
	return &Lock{file: f}, nil
}

// Release releases the lock. It accepts nil.
func (l *Lock) Release() error {
	if l == nil {
		return nil
	}
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("release lock: %w", err)
	}
	return nil
}
