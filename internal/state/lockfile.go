// Package lockfile keeps two processes from doing the same work at once. A lock
// ends with its process, however that ends.
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

// Lock is a lock that is held.
type Lock struct {
	file *os.File
}

// Try takes the lock at path without waiting; the file is made if it is missing
// and stays behind. ErrHeld says that somebody else has it.
func Try(path string) (*Lock, error) { return take(path, false) }

// Wait takes the lock at path, alone or, if shared, together with others that
// share it. It waits until ctx ends; the error is then ErrHeld.
func Wait(ctx context.Context, path string, shared bool) (*Lock, error) {
	for {
		l, err := take(path, shared)
		if !errors.Is(err, ErrHeld) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(poll):
		}
	}
}

// poll is how often a held lock is tried again. Locks are held for milliseconds.
const poll = 5 * time.Millisecond

func take(path string, shared bool) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("take lock: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil && shared {
		if r, rerr := os.Open(path); rerr == nil { // enough to share it, where nothing can be written
			f, err = r, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("take lock: %w", err)
	}
	if err := tryLock(f, shared); err != nil {
		return nil, fmt.Errorf("take lock %s: %w", path, errors.Join(err, f.Close()))
	}
	return &Lock{file: f}, nil
}

// Release gives the lock back. A nil lock is none.
func (l *Lock) Release() error {
	if l == nil {
		return nil
	}
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("release lock: %w", err)
	}
	return nil
}
