package sessionlog

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// errLocked says that another process holds the lock.
var errLocked = windows.ERROR_LOCK_VIOLATION

// lock is the exclusive lock of a log. On Windows it lies on a file of its own,
// "<log>.lock", because a log cannot be replaced while it is open, and must stay
// locked while Seal replaces it. The lock's file stays for good: removing it
// would let two processes lock two files of that name.
type lock struct{ f *os.File }

// tryLock returns the lock of the log that is open as f, or errLocked.
func tryLock(f *os.File) (*lock, error) {
	lf, err := os.OpenFile(f.Name()+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	if err := windows.LockFileEx(windows.Handle(lf.Fd()), flags, 0, 1, 0, &windows.Overlapped{}); err != nil {
		if errors.Is(err, windows.ERROR_IO_PENDING) {
			err = errLocked
		}
		return nil, errors.Join(err, lf.Close())
	}
	return &lock{lf}, nil
}

// release gives the lock back.
func (l *lock) release() error { return l.f.Close() }

// closeBeforeRename says whether a file has to be closed before another is
// renamed over it.
const closeBeforeRename = true

// isFull reports whether err says that no more can be stored.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// syncDir does nothing: Windows keeps a folder's names in its own journal.
func syncDir(string) error { return nil }
