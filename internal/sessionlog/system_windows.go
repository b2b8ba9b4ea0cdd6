package sessionlog

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"

	"strandline/internal/state"
)

// tryLock locks the log that is open as f, or returns state.ErrHeld. On Windows it
// locks a separate file, "<log>.lock", because an open log cannot be replaced and must
// stay locked while Seal replaces it. The lock file is never removed: two processes
// could otherwise lock two files of that name.
func tryLock(f *os.File) (*state.Lock, error) { return state.TryLock(f.Name() + ".lock") }

// openNonblock is a flag of other systems.
const openNonblock = 0

// closeBeforeRename is true if a file must be closed before another is renamed over it.
const closeBeforeRename = true

// isFull reports whether err means that the disk is full.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// syncDir does nothing: Windows journals folder entries.
func syncDir(string) error { return nil }
