// Package state reads and writes the small files beside the archive: values by
// key, locks between processes and the error log.
package state

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// TempPrefix begins the names of temporary files. A killed process may leave one
// in the folder of the file that it was writing.
const TempPrefix = ".writing-"

// Replace atomically replaces the file at path, with mode 0600, and creates its
// folder with mode 0700. Readers see the old or the new content, never a mix. It
// does not flush to disk: after a power failure the file may be empty.
func Replace(path string, data []byte) error { return replace(path, data, false) }

// ReplaceSynced is Replace that flushes the content to disk before the rename.
func ReplaceSynced(path string, data []byte) error { return replace(path, data, true) }

// BadFile is the error of ReadRegular for a file that it does not read.
type BadFile string

// Error implements error.
func (e BadFile) Error() string { return string(e) }

// ReadRegular reads a regular file. It opens no other files, such as a FIFO, which
// would block. The error for a file of more than limit bytes is a BadFile; the data are
// then its first limit bytes.
func ReadRegular(path string, limit int64) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, BadFile("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err //nolint:wrapcheck // a PathError; the caller adds its operation
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		return data[:limit], BadFile(fmt.Sprintf("it is larger than %d KB", limit>>10))
	}
	return data, err //nolint:wrapcheck // as above
}

// ReadInput reads a process's stdin to its end, at most limit bytes. It gives up when
// ctx is done, because the client may leave the pipe open; the read then ends with the
// process.
func ReadInput(ctx context.Context, in io.Reader, limit int64) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(in, limit))
		done <- result{data, err}
	}()
	select {
	case r := <-done:
		return r.data, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for stdin: %w", context.Cause(ctx))
	}
}

// Remove removes a file. A missing file is not an error.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err //nolint:wrapcheck // a PathError; the caller adds its operation
	}
	return nil
}

// RemoveTemp removes the temporary files that killed processes left in a folder.
// The caller makes sure that no process is writing there.
func RemoveTemp(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), TempPrefix) {
			errs = append(errs, Remove(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

func replace(path string, data []byte, sync bool) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err //nolint:wrapcheck // a PathError; the caller adds its operation
	}
	temp, err := os.CreateTemp(dir, TempPrefix+"*") // mode 0600
	if err != nil {
		return err //nolint:wrapcheck // as above
	}
	_, err = temp.Write(data)
	if err == nil && sync {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
