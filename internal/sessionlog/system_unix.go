//go:build !windows

package sessionlog

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"strandline/internal/state"
)

// tryLock locks the log that is open as f until it is closed, or returns
// state.ErrHeld. Seal renames another file over the log, so the holder checks that the
// path still names the locked file.
func tryLock(f *os.File) (*state.Lock, error) { return nil, state.LockFile(f, false) }

// openNonblock makes opening a FIFO return without a writer. It also saves the four system
// calls with which os.Open finds out that a file cannot be polled.
const openNonblock = unix.O_NONBLOCK

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
