//go:build !unix

package vector

import "os"

// mapFile reads the first size bytes of a file: on these systems a mapped file
// cannot be replaced while somebody searches it.
func mapFile(f *os.File, size int) (data []byte, unmap func() error, err error) {
	return readFile(f, size)
}
