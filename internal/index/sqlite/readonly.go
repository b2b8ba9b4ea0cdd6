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

// openFile opens the file at path, which is the index or a copy of it. more are options
// that are appended to the driver's name for the file.
func (s *Store) openFile(ctx context.Context, path, more string) error {
	c, err := openConn(dsn(path, s.opt.ReadOnly) + more)
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

// openReadOnly handles the error of opening an index read-only. It migrates an index of an
// older version. SQLite cannot read a WAL database in a folder without write permission,
// such as a backup or a read-only mount, because it needs a file of shared memory there:
// openReadOnly opens such a file as immutable. If the file has a WAL left by a writer that
// died, or an older version, it opens a copy.
func (s *Store) openReadOnly(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errOlder):
		if err = upgrade(ctx, s.path, s.opt); err == nil {
			return s.openFile(ctx, s.path, "")
		}
		if !unwritable(err) {
			return err
		}
	case !unwritable(err):
		return err
	default:
		if wal, stat := os.Stat(s.path + "-wal"); stat == nil && wal.Size() > 0 {
			break
		}
		if again := s.openFile(ctx, s.path, "&immutable=1"); again == nil || !errors.Is(again, errOlder) {
			return again
		}
	}
	if err := s.openCopy(ctx); err != nil {
		return &archive.Error{
			Code: archive.CodeDenied, Msg: "the index " + s.path + " cannot be read in a read-only folder", Err: err,
			Hint: "copy the folder to a writable place, and set STRANDLINE_HOME to the copy",
		}
	}
	return nil
}

// upgrade migrates an index and checkpoints its WAL.
func upgrade(ctx context.Context, path string, opt Options) error {
	s, err := Open(ctx, path, Options{BusyTimeout: opt.BusyTimeout})
	if err != nil {
		return err
	}
	return s.Close()
}

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
	s.copied = dir
	return nil
}

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

// unwritable reports whether an index could not be opened for reading because SQLite cannot
// write to its folder.
func unwritable(err error) bool { return archive.ErrorCode(err) == archive.CodeDenied }
