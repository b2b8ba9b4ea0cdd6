package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// defaultBusyTimeout is the time that a statement waits for another process's lock.
const defaultBusyTimeout = 5 * time.Second

// Options adjusts Open. The zero value opens for reading and writing.
type Options struct {
	// ReadOnly opens an existing index for reading only. Open still migrates an index
	// of an older version.
	ReadOnly bool
	// BusyTimeout is the time to wait for another process's lock; 0 means 5 seconds.
	BusyTimeout time.Duration
	// Texts reads texts from the session log that the index no longer holds. Nil: such
	// texts are empty.
	Texts Texts
	// Bulk uses about 64 MiB of memory to speed up imports and reindexing.
	Bulk bool
	// Rules is the version of the redaction rules, which a new file remembers.
	Rules int
}

// Texts reads the passages of the lines [from, to) of a session from its log. from is
// the first line of a turn or of a passage.
type Texts func(ctx context.Context, session string, from, to int) ([]archive.Passage, error)

// Store is an open index. Its methods may be called concurrently; they share one
// connection and run one at a time.
type Store struct {
	*index.Store
	path  string
	opt   Options
	conn  *conn
	free  chan struct{} // holds one token while conn is not in use; see acquire
	stmts map[string]statement
	enc   index.Encoder
	row   []byte // buffer of enc
	// copyDir is the temporary folder of the copy that is open instead of the index; ""
	// if there is none.
	copyDir string
}

// Open opens the index at path, whose folder must exist. Unless opt.ReadOnly, it
// creates a missing index, with mode 0600. An empty path opens a new index in memory, which
// Close drops.
//
// Errors are archive.Errors: CodeCorrupt if the file is not an index, CodeInvalid if
// a newer version wrote it, CodeBusy if another process holds it for longer than the
// timeout, CodeDenied if the system refuses access, CodeNotFound if an index opened
// with ReadOnly does not exist.
func Open(ctx context.Context, path string, opt Options) (*Store, error) {
	if opt.BusyTimeout <= 0 {
		opt.BusyTimeout = defaultBusyTimeout
	}
	if path != "" {
		if err := prepareFile(path, opt.ReadOnly); err != nil {
			return nil, err
		}
	}
	s := &Store{path: path, opt: opt, free: make(chan struct{}, 1), stmts: map[string]statement{}}
	s.Store = index.New(s.Read, s.write, index.Dialect{
		Join: "CROSS JOIN", Instr: "instr", Start: "start", End: "end", Offset: "offset", VectorCount: "rows",
		PassageCount: "SELECT value FROM meta WHERE name = 'passages'", WordCounts: wordCountQuery,
	})
	err := s.openFile(ctx, path, "")
	if opt.ReadOnly && err != nil {
		err = s.openReadOnly(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	s.free <- struct{}{}
	return s, nil
}

// configure applies the connection's settings. SQLite does not wait if two processes
// switch a new file to WAL at once, so configure retries.
func (s *Store) configure(ctx context.Context) error {
	for waited, pause := time.Duration(0), time.Millisecond; ; waited, pause = waited+pause, 2*pause {
		err := s.fail("open the index", s.conn.exec(ctx, pragmas(s.opt)))
		if archive.ErrorCode(err) != archive.CodeBusy || waited >= s.opt.BusyTimeout {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(pause, s.opt.BusyTimeout-waited)):
		}
	}
}

// pragmas returns the settings of a connection. A hook touches a few pages, so the
// default cache is small; an import rewrites the same pages often.
func pragmas(opt Options) string {
	cache, checkpoint := 2<<10, 1000 // KiB, pages
	if opt.Bulk {
		cache, checkpoint = 64<<10, 8000
	}
	p := fmt.Sprintf("PRAGMA busy_timeout=%d; PRAGMA cache_size=-%d; PRAGMA temp_store=MEMORY;", opt.BusyTimeout.Milliseconds(), cache)
	if opt.ReadOnly {
		return p + " PRAGMA query_only=1; PRAGMA mmap_size=1073741824;"
	}
	return p + fmt.Sprintf(" PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=%d;", checkpoint)
}

// Close waits for a running call, closes the index and deletes a temporary copy. Later
// calls fail.
func (s *Store) Close() error {
	<-s.free
	defer s.release()
	return s.fail("close the index", errors.Join(s.disconnect(), os.RemoveAll(s.copyDir)))
}

// disconnect closes the connection and its prepared statements.
func (s *Store) disconnect() error {
	var errs []error
	for _, st := range s.stmts {
		errs = append(errs, st.Close())
	}
	clear(s.stmts)
	return errors.Join(append(errs, s.conn.close())...)
}

// prepareFile checks that the index is a regular file. Unless readOnly, it creates a
// missing one with mode 0600 before SQLite opens it.
func prepareFile(path string, readOnly bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return corrupt(path + " is not a regular file")
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return denied(path, err)
	case readOnly:
		return archive.NotFound("there is no index at "+path, "run: strandline import")
	}
	if err := createFile(path); err != nil {
		return denied(path, err)
	}
	return nil
}

// createFile creates an empty file with mode 0600, unless it exists. It creates the file
// under another name and links it to path: opening and closing path itself would drop the
// POSIX locks of SQLite if another goroutine has the index open.
func createFile(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".index-*") // mode 0600
	if err != nil {
		return err
	}
	err = f.Close()
	if err == nil {
		if err = os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
			err = nil // another process created it
		}
	}
	if err != nil {
		// A file system without links. A rename would replace a file, so check again.
		if _, stat := os.Stat(path); errors.Is(stat, fs.ErrNotExist) {
			err = os.Rename(f.Name(), path)
		}
	}
	_ = os.Remove(f.Name()) // fails if the file was renamed
	return err
}

// dsn returns the driver's name for a file.
func dsn(path string, readOnly bool) string {
	if path == "" {
		return ":memory:"
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a Windows volume
		path = "/" + path
	}
	escape := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23")
	mode := "rw"
	if readOnly {
		mode = "ro"
	}
	return "file://" + escape.Replace(path) + "?mode=" + mode
}

// acquire waits until no other call uses the connection. The caller then calls release.
func (s *Store) acquire(ctx context.Context) error {
	select {
	case <-s.free:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) release() { s.free <- struct{}{} }

// stmt returns the prepared statement for a query. It is cached and valid until Close.
func (s *Store) stmt(ctx context.Context, query string) (statement, error) {
	if st, ok := s.stmts[query]; ok {
		return st, nil
	}
	st, err := s.conn.prepare(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	s.stmts[query] = st
	return st, nil
}

// write runs fn in a write transaction. what names the operation in errors, such as
// "open the index".
func (s *Store) write(ctx context.Context, what string, fn func(ctx context.Context, tx index.Tx) error) error {
	if s.opt.ReadOnly {
		return &archive.Error{Code: archive.CodeDenied, Msg: "the index is open read-only"}
	}
	return s.transact(ctx, what, "BEGIN IMMEDIATE", fn)
}

// Read runs fn in a read transaction, which sees one snapshot of the index. what names
// the operation in errors.
func (s *Store) Read(ctx context.Context, what string, fn func(ctx context.Context, tx index.Tx) error) error {
	return s.transact(ctx, what, "BEGIN", fn)
}

// transact runs fn in a transaction. It rolls back if fn fails or ctx has ended. Running
// statements are not interrupted when ctx ends, because the driver would need a goroutine
// for each; long operations check tx.done between statements.
func (s *Store) transact(ctx context.Context, what, begin string, fn func(ctx context.Context, tx index.Tx) error) error {
	if err := s.acquire(ctx); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer s.release()
	uncancelled := context.WithoutCancel(ctx)
	if _, err := s.exec(uncancelled, begin); err != nil {
		return s.fail(what, err)
	}
	err := fn(uncancelled, tx{s, ctx})
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		_, err = s.exec(uncancelled, "COMMIT")
	}
	if err != nil {
		_, rollback := s.exec(uncancelled, "ROLLBACK")
		err = errors.Join(err, ignoreRolledBack(rollback))
	}
	return s.fail(what, err)
}
