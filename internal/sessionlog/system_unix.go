//go:build !windows

package sessionlog

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errLocked says that another process holds the lock.
var errLocked = unix.EWOULDBLOCK

// lock is the exclusive lock of a log. On unix it lies on the log itself; as
// Seal renames another file over it, whoever gets the lock has to check that the
// path still names the locked file.
type lock struct{ f *os.File }

// tryLock returns the lock of the log that is open as f, or errLocked.
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

// release gives the lock back; closing the log does it.
func (l *lock) release() error { return nil }

// closeBeforeRename says whether a file has to be closed before another is
// renamed over it.
const closeBeforeRename = false

// isFull reports whether err says that no more can be stored.
func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil // some network file systems cannot do it for folders
	}
	return errors.Join(err, d.Close())
}
