//go:build unix

package capture

import (
	"os"
	"syscall"
)

// openNonblock makes opening a FIFO return without a writer.
const openNonblock = syscall.O_NONBLOCK

// inode identifies a file, so that a replaced file is recognized.
func inode(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}
