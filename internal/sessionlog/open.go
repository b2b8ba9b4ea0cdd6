package sessionlog

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"strandline/internal/archive"
)

// acquire opens the log at path for writing and locks it. It waits for the lock until
// ctx is done. With create it creates a missing log; newDirs are the folders that got a
// new entry.
func acquire(ctx context.Context, path string, create bool) (f *os.File, lk *lock, newDirs []string, err error) {
	const first, most = 200 * time.Microsecond, 5 * time.Millisecond
	for wait := first; ; wait = min(2*wait, most) {
		var made []string
		f, made, err = openWrite(path, create)
		if err != nil {
			return nil, nil, nil, err
		}
		newDirs = append(newDirs, made...)
		lk, err = tryLock(f)
		if err == nil && names(path, f) {
			return f, lk, newDirs, nil
		}
		replaced := err == nil // Seal replaced the file
		if replaced {
			err = lk.release()
		}
		if cerr := f.Close(); cerr != nil && (replaced || errors.Is(err, errLocked)) {
			err = cerr
		}
		if replaced && err == nil {
			wait = first
			continue
		}
		if !errors.Is(err, errLocked) {
			return nil, nil, nil, fileError("lock", path, err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, nil, nil, &archive.Error{Code: archive.CodeBusy, Err: ctx.Err(),
				Msg:  "another process is writing " + filepath.Base(path),
				Hint: "try again; the next hook logs the missing bytes"}
		}
	}
}

// names reports whether f is still the file at path.
func names(path string, f *os.File) bool {
	a, err1 := os.Stat(path)
	b, err2 := f.Stat()
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// openWrite opens a regular file for writing. With create it creates the file and its
// folders if they are missing, and returns the folders that got a new entry.
func openWrite(path string, create bool) (*os.File, []string, error) {
	fi, err := os.Stat(path)
	switch {
	case err == nil && !fi.Mode().IsRegular():
		return nil, nil, notRegular(path)
	case err == nil:
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return nil, nil, fileError("open the log", path, err)
		}
		return f, nil, nil
	case !create || !errors.Is(err, fs.ErrNotExist):
		return nil, nil, fileError("open the log", path, err)
	}
	newDirs, err := makeDirs(filepath.Dir(path))
	if err != nil {
		return nil, nil, fileError("create the folder of", path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fileError("create the log", path, err)
	}
	return f, newDirs, nil
}

// makeDirs creates dir and missing folders above it with mode 0700. It returns dir and
// the folders that got a new entry.
func makeDirs(dir string) ([]string, error) {
	touched := []string{dir}
	for d := dir; ; {
		if _, err := os.Stat(d); err == nil || !errors.Is(err, fs.ErrNotExist) {
			break
		}
		parent := filepath.Dir(d)
		if parent == d {
			break
		}
		touched = append(touched, parent)
		d = parent
	}
	return touched, os.MkdirAll(dir, 0o700)
}
