//go:build !windows

package sessionlog

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errLocked is the error if another process holds the lock.
var errLocked = unix.EWOULDBLOCK

// lock is the exclusive lock of a log. On unix it is a lock of the log file. Seal
// renames another file over the log, so the holder checks that the path still names the
// locked file.
type lock struct{ f *os.File }

// tryLock locks the log that is open as f, or returns errLocked.
func tryLock(f *os.File) (*lock, error) {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return &lock{f}, nil
		case !errors.Is(err, unix.EINTR):
			return nil, err
		}
	}
}

// release does nothing: closing the log releases the lock.
func (l *lock) release() error { return nil }

// closeBeforeRename is true if a file must be closed before another is renamed over it.
const closeBeforeRename = false

// isFull reports whether err means that the disk or a quota is full.
func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}

// syncDir makes the entries of a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil // some network file systems do not support it
	}
	return errors.Join(err, d.Close())
}
