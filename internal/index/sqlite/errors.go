package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// fail converts an error of the driver to an archive.Error. It only adds what to an
// archive.Error, to ErrStale and to the end of a context.
func (s *Store) fail(what string, err error) error {
	if err == nil {
		return nil
	}
	e, failed := index.Fail(what, err)
	de, ok := errors.AsType[*driver.Error](err)
	if e == nil || !ok {
		return failed
	}
	switch de.Code() & 0xFF { // the low byte is the primary code
	case sqlite3.SQLITE_IOERR:
		switch de.Code() { // even a reader needs the file for shared memory
		case sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMMAP:
			e.Code, e.Hint = archive.CodeDenied, "check the permissions of "+s.path+" and the free space"
		}
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		e.Code, e.Hint = archive.CodeBusy, "another strandline process is writing; try again in a moment"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		damaged(e)
	case sqlite3.SQLITE_FULL:
		e.Code, e.Hint = archive.CodeDenied, "the disk is full; the next hook catches up when there is space"
	case sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH:
		e.Code, e.Hint = archive.CodeDenied, "check the permissions of "+s.path
		if n := len(s.path); n > maxPath {
			e.Hint = fmt.Sprintf("its path has %d bytes, and SQLite opens up to %d: set STRANDLINE_HOME to a shorter one; captured logs can be moved there", n, maxPath)
		}
	}
	if de.Code()&0xFF == sqlite3.SQLITE_ERROR && strings.Contains(de.Error(), "malformed") {
		damaged(e)
	}
	return e
}

// damaged makes e the error of a damaged index.
func damaged(e *archive.Error) {
	e.Code, e.Hint = archive.CodeCorrupt, "the logs are not affected; rebuild the index with: strandline reindex"
	if e.Err == nil {
		e.Err = archive.ErrDamagedIndex
	} else {
		e.Err = fmt.Errorf("%w (%w)", e.Err, archive.ErrDamagedIndex)
	}
}

// maxPath is the longest path of a database in bytes. SQLite limits it to 512 with the
// suffixes of its other files.
const maxPath = 500

func denied(path string, err error) error {
	return &archive.Error{
		Code: archive.CodeDenied, Msg: "cannot open the index " + path,
		Hint: "check its permissions and the free space, or set STRANDLINE_HOME to another folder", Err: err,
	}
}

// ignoreRolledBack returns nil if no transaction is active: after some errors
// SQLite rolls back automatically.
func ignoreRolledBack(err error) error {
	if err != nil && strings.Contains(err.Error(), "no transaction is active") {
		return nil
	}
	return err
}

// Integrity checks the file and the full-text index, and that both hold the same
// passages. It fails with CodeCorrupt. It reads the whole file.
func (s *Store) Integrity(ctx context.Context) error {
	return s.Read(ctx, "check the index", func(ctx context.Context, t index.Tx) error {
		if fault, err := index.Value[string](ctx, t, "PRAGMA integrity_check(1)"); err != nil {
			return err
		} else if fault != "ok" {
			return corrupt(fault)
		}
		var rows, indexed, counted int
		// words_docsize has one row for each row of words.
		const query = "SELECT (SELECT count(*) FROM passages), (SELECT count(*) FROM words_docsize), " +
			"coalesce((SELECT value FROM meta WHERE name = 'passages'), 0)"
		if _, err := t.QueryRow(ctx, query, nil, &rows, &indexed, &counted); err != nil {
			return err
		}
		if rows != indexed || rows != counted {
			return corrupt(fmt.Sprintf("%d passages, %d of them in the full-text index, %d counted", rows, indexed, counted))
		}
		return nil
	})
}

// Settle moves the write-ahead log into the index's file. It fails with CodeBusy if
// another connection reads or writes.
func (s *Store) Settle(ctx context.Context) error {
	const what = "write the index's file"
	if err := s.acquire(ctx); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer s.release()
	var busy, pages, moved int
	_, err := tx{s, ctx}.QueryRow(context.WithoutCancel(ctx), "PRAGMA wal_checkpoint(TRUNCATE)", nil, &busy, &pages, &moved)
	if err == nil && (busy != 0 || pages != moved) {
		err = &archive.Error{Code: archive.CodeBusy, Msg: "the index is in use by another connection", Hint: "try again in a moment"}
	}
	return s.fail(what, err)
}

func corrupt(fault string) error {
	e := &archive.Error{Msg: "the index is damaged: " + archive.Clip(fault, 200)}
	damaged(e)
	return e
}
