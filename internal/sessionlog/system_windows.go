package sessionlog

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// errLocked is the error if another process holds the lock.
var errLocked = windows.ERROR_LOCK_VIOLATION

// lock is the exclusive lock of a log. On Windows it is a lock of a separate file,
// "<log>.lock", because an open log cannot be replaced and must stay locked while Seal
// replaces it. The lock file is never removed: two processes could otherwise lock two
// files of that name.
type lock struct{ f *os.File }

// tryLock locks the log that is open as f, or returns errLocked.
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

// release releases the lock.
func (l *lock) release() error { return l.f.Close() }

// closeBeforeRename is true if a file must be closed before another is renamed over it.
const closeBeforeRename = true

// isFull reports whether err means that the disk is full.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// syncDir does nothing: Windows journals folder entries.
func syncDir(string) error { return nil }
