// Package atomicfile puts small files in place in one step: who reads beside the
// writer sees what was there or what is new, never half of either.
package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// TempPrefix begins the names of files that are being written. A process that
// was killed leaves one behind; it lies beside the file that it was to replace.
const TempPrefix = ".writing-"

// Replace makes data the content of the file at path, with mode 0600, and makes
// its folder with 0700 where it is missing. It does not wait for the disk: after a
// power failure the file may be empty, so it is for what can be written anew.
func Replace(path string, data []byte) error { return replace(path, data, false) }

// ReplaceSynced does as Replace, and the content is on the disk before the file
// takes its name.
func ReplaceSynced(path string, data []byte) error { return replace(path, data, true) }

// Remove removes a file unless it is gone.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err //nolint:wrapcheck // the caller says what was to be removed
	}
	return nil
}

// Sweep removes what processes that were killed left half written in a folder. The
// caller makes sure that nobody writes there.
func Sweep(dir string) error {
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
		return err //nolint:wrapcheck // the caller says what was to be written
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
