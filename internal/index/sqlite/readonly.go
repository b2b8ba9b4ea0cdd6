package sqlite

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"strandline/internal/archive"
)

// openFile opens the file at path, which is the index or a copy of it, and migrates it
// unless the store is read-only. params are further parameters of the file's URI, such as
// "&immutable=1". The error is errOlder if a read-only index has an older version.
func (s *Store) openFile(ctx context.Context, path, params string) error {
	c, err := openConn(dsn(path, s.opt.ReadOnly) + params)
	if err != nil {
		return s.fail("open the index", err)
	}
	s.conn = c
	if err = s.configure(ctx); err == nil {
		err = s.migrate(ctx)
	}
	if err != nil {
		return errors.Join(err, s.disconnect())
	}
	return nil
}

// openReadOnly tries other ways to open an index after openFile failed with cause:
//
//   - It migrates an index of an older version.
//   - It opens an index in a read-only folder, such as a backup, as immutable. SQLite
//     otherwise creates a file for shared memory there.
//   - It opens a temporary copy if such an index has an older version or a WAL left by a
//     writer that died.
//
// It returns cause if none applies.
func (s *Store) openReadOnly(ctx context.Context, cause error) error {
	switch {
	case errors.Is(cause, errOlder):
		err := upgrade(ctx, s.path, s.opt)
		if err == nil {
			return s.openFile(ctx, s.path, "")
		}
		if !unwritable(err) {
			return err
		}
	case !unwritable(cause):
		return cause
	default:
		if wal, stat := os.Stat(s.path + "-wal"); stat == nil && wal.Size() > 0 {
			break
		}
		if err := s.openFile(ctx, s.path, "&immutable=1"); !errors.Is(err, errOlder) {
			return err
		}
	}
	if err := s.openCopy(ctx); err != nil {
		return &archive.Error{
			Code: archive.CodeDenied, Msg: "the index " + s.path + " cannot be read in a read-only folder", Err: err,
			Hint: "copy the folder to a writable location and set STRANDLINE_HOME to the copy",
		}
	}
	return nil
}

// upgrade opens an index for writing, which migrates it, and closes it, which checkpoints
// its WAL.
func upgrade(ctx context.Context, path string, opt Options) error {
	s, err := Open(ctx, path, Options{BusyTimeout: opt.BusyTimeout})
	if err != nil {
		return err
	}
	return s.Close()
}

// openCopy copies the index and its WAL to a temporary folder, migrates the copy and opens
// it. Close deletes the folder.
func (s *Store) openCopy(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "strandline-index-*") // mode 0700
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "index.db")
	if err = copyFile(s.path, path); err == nil {
		if err = copyFile(s.path+"-wal", path+"-wal"); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = upgrade(ctx, path, s.opt)
	}
	if err == nil {
		err = s.openFile(ctx, path, "")
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	s.copyDir = dir
	return nil
}

// copyFile copies a file to a new file with mode 0600.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// unwritable reports whether err means that SQLite may not write to the index's folder.
func unwritable(err error) bool { return archive.ErrorCode(err) == archive.CodeDenied }
