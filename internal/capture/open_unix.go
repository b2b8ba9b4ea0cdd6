//go:build unix

package capture

import (
	"os"
	"syscall"
)

// openNonblock keeps the opening of a FIFO from waiting for a writer.
const openNonblock = syscall.O_NONBLOCK

// inode identifies the file behind a name, so that a replaced file is noticed.
func inode(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}
