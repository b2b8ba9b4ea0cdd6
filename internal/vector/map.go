package vector

import (
	"fmt"
	"io"
	"os"
)

// readFile reads what cannot be mapped.
func readFile(f *os.File, size int) (data []byte, release func() error, err error) {
	data = make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, int64(size)), data); err != nil {
		return nil, nil, fmt.Errorf("read vectors: %w", err)
	}
	return data, func() error { return nil }, nil
}
