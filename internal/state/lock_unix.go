//go:build unix

package state

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

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
