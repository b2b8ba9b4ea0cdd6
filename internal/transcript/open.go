package transcript

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"strandline/internal/archive"
)

// OpenFile opens a regular file. It does not block on a FIFO or a device.
func OpenFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = archive.Invalid(fmt.Sprintf("%s is not a regular file", path), "")
	}
	if err != nil {
		return nil, fmt.Errorf("open transcript: %w", errors.Join(err, f.Close()))
	}
	return f, nil
}

// maxTemp limits a TempFile, in bytes.
const maxTemp = 4 << 30

// TempFile returns a file with the bytes of r, which no other process can open and which
// is deleted when it is closed.
func TempFile(r io.Reader) (*os.File, error) {
	path := filepath.Join(os.TempDir(), "strandline-"+rand.Text())
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|deleteOnClose, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	if deleteOnClose == 0 {
		err = os.Remove(path)
	}
	n, cerr := io.Copy(f, io.LimitReader(r, maxTemp+1))
	if err = errors.Join(err, cerr); err == nil && n > maxTemp {
		err = archive.Invalid("the transcript is larger than 4 GB", "")
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, fmt.Errorf("read transcript: %w", errors.Join(err, f.Close()))
	}
	return f, nil
}
