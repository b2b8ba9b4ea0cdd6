//go:build !unix

package capture

import "os"

// openNonblock is not needed where a FIFO is no file.
const openNonblock = 0

// inode is unknown here; a replaced file is recognised by its content alone.
func inode(os.FileInfo) uint64 { return 0 }
