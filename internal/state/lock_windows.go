package state

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// CheckPrivate accepts every file: its mode does not say who can read it.
func CheckPrivate(string) error { return nil }

// LockFile locks an open file until it is closed. It does not wait: the error is
// ErrHeld if another process has the lock.
func LockFile(f *os.File, shared bool) error {
	const all = ^uint32(0)
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, all, all, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrHeld
	}
	return err
}
