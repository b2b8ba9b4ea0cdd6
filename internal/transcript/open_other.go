//go:build !unix

package transcript

const (
	openNonblock  = 0          // opening a file never blocks
	deleteOnClose = 0x04000000 // FILE_FLAG_DELETE_ON_CLOSE of Windows
)
