//go:build unix

package transcript

import "syscall"

const (
	openNonblock  = syscall.O_NONBLOCK // makes opening a FIFO return without a writer
	deleteOnClose = 0                  // the file is deleted while it is open
)
