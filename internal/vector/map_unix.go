//go:build unix

package vector

import (
	"os"
	"syscall"
)

// mapFile maps the first size bytes of a file into memory, for reading.
func mapFile(f *os.File, size int) (data []byte, unmap func() error, err error) {
	data, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return readFile(f, size) // a file system that maps nothing
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}
