//go:build unix

package state

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// CheckPrivate fails unless only this user, or the superuser, can read and change a file.
func CheckPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err //nolint:wrapcheck // a PathError; the caller adds its operation
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return BadFile("it belongs to another user")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return BadFile("other users may read or change it")
	}
	return nil
}

// LockFile locks an open file until it is closed. It does not wait: the error is
// ErrHeld if another process has the lock.
func LockFile(f *os.File, shared bool) error {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	for errors.Is(err, unix.EINTR) {
		err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrHeld
	}
	return err
}
