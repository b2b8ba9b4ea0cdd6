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

// acquire opens the log at path for writing and locks it. With create a missing
// log is made, and fresh names the folders whose entries changed by that. It
// waits for the lock until ctx is done.
func acquire(ctx context.Context, path string, create bool) (f *os.File, lk *lock, fresh []string, err error) {
	const first, most = 200 * time.Microsecond, 5 * time.Millisecond
	for wait := first; ; wait = min(2*wait, most) {
		var made []string
		f, made, err = openWrite(path, create)
		if err != nil {
			return nil, nil, nil, err
		}
		fresh = append(fresh, made...)
		lk, err = tryLock(f)
		if err == nil && names(path, f) {
			return f, lk, fresh, nil
		}
		replaced := err == nil // Seal has put another file in its place
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
				Hint: "try again, the next hook takes what is missing"}
		}
	}
}

// names reports whether path names the open file f.
func names(path string, f *os.File) bool {
	a, err1 := os.Stat(path)
	b, err2 := f.Stat()
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// openWrite opens a regular file for writing. With create it makes the file and
// its folders where they are missing and returns the folders that got an entry.
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
	fresh, err := makeDirs(filepath.Dir(path))
	if err != nil {
		return nil, nil, fileError("create the folder of", path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fileError("create the log", path, err)
	}
	return f, fresh, nil
}

// makeDirs makes dir and what is missing above it, for the owner alone, and
// returns dir with the folders that got an entry by that.
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
