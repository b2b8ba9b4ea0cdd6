// Package lockfile keeps two processes from doing the same work at once. A lock
// ends with its process, however that ends.
package lockfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrHeld is returned when another process holds the lock.
var ErrHeld = errors.New("held by another process")

// Lock is a lock that is held.
type Lock struct {
	file *os.File
}

// Try takes the lock at path without waiting; the file is made if it is missing
// and stays behind. ErrHeld says that somebody else has it.
func Try(path string) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("take lock: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("take lock: %w", err)
	}
	if err := tryLock(f); err != nil {
		return nil, fmt.Errorf("take lock %s: %w", path, errors.Join(err, f.Close()))
	}
	return &Lock{file: f}, nil
}

// Release gives the lock back.
func (l *Lock) Release() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("release lock: %w", err)
	}
	return nil
}
