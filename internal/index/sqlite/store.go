package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"strandline/internal/archive"
)

// defaultBusyTimeout is how long a statement waits for another process.
const defaultBusyTimeout = 5 * time.Second

// Options adjusts Open. The zero value opens for reading and writing.
type Options struct {
	// ReadOnly opens an index that exists and refuses to change it, except that
	// one of an older version is brought up to date first.
	ReadOnly bool
	// BusyTimeout is how long to wait for another process's write; 0 means 5
	// seconds.
	BusyTimeout time.Duration
	// Texts reads the passages of the lines [from, to) of a session from its log,
	// for turns whose texts were trimmed from the index. Nil: such texts are
	// empty.
	Texts Texts
	// Bulk spends memory (about 64 MB) for speed, for imports and reindexing.
	Bulk bool
}

// Texts reads passages from the log. from is where a turn begins.
type Texts func(ctx context.Context, session string, from, to int) ([]archive.Passage, error)

// Store is an open index.
type Store struct {
	path  string
	opt   Options
	conn  *conn
	turn  chan struct{} // holds one token; who has it may use conn
	stmts map[string]statement
	enc   encoder
	// copied is the folder of a copy of the index that is read instead of it.
	copied string
}

// Open opens the index at path and creates it, readable by its owner only, if
// there is none and opt allows. The folder has to exist.
//
// Errors are Errors of package archive: CodeCorrupt if the file is no index,
// CodeInvalid if a newer version wrote it, CodeBusy if another process held it
// for longer than the timeout, CodeDenied if the system refuses access,
// CodeNotFound if it should be read but is not there.
func Open(ctx context.Context, path string, opt Options) (*Store, error) {
	if opt.BusyTimeout <= 0 {
		opt.BusyTimeout = defaultBusyTimeout
	}
	if err := prepareFile(path, opt.ReadOnly); err != nil {
		return nil, err
	}
	s := &Store{path: path, opt: opt, turn: make(chan struct{}, 1), stmts: map[string]statement{}}
	err := s.openFile(ctx, path, "")
	if opt.ReadOnly && err != nil {
		err = s.openAnyway(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	s.turn <- struct{}{}
	return s, nil
}

func (s *Store) connect(ctx context.Context) error {
	if err := s.configure(ctx); err != nil {
		return err
	}
	return s.migrate(ctx)
}

// configure sets the connection up. SQLite does not wait where a new file is
// switched to WAL while another process does the same, so this waits itself.
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

// pragmas returns the settings of a connection. A hook touches a few pages, so
// the usual cache is small; an import rewrites the same pages often.
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

// Close closes the index, after a call that is running. Later calls fail.
func (s *Store) Close() error {
	<-s.turn
	defer s.release()
	return s.fail("close the index", errors.Join(s.disconnect(), s.dropCopy()))
}

// disconnect closes the connection and what was prepared on it.
func (s *Store) disconnect() error {
	var errs []error
	for _, st := range s.stmts {
		errs = append(errs, st.Close())
	}
	clear(s.stmts)
	return errors.Join(append(errs, s.conn.close())...)
}

// prepareFile creates the file with the right mode before SQLite sees it. It is
// made under another name and linked into place: closing a file that SQLite has
// open in the same process would drop SQLite's POSIX locks.
func prepareFile(path string, readOnly bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return archive.Invalid(fmt.Sprintf("the index %s is no regular file", path), "move it away and run: strandline reindex")
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return denied(path, err)
	case readOnly:
		return archive.NotFound("there is no index at "+path, "run: strandline import")
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".index-*") // mode 0600
	if err != nil {
		return denied(path, err)
	}
	err = f.Close()
	if err == nil {
		if err = os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
			err = nil // another process was first
		}
	}
	if err != nil {
		// A file system without links: rename replaces, so look once more.
		if _, stat := os.Stat(path); errors.Is(stat, fs.ErrNotExist) {
			err = os.Rename(f.Name(), path)
		}
	}
	_ = os.Remove(f.Name()) // gone already if it was renamed
	if err != nil {
		return denied(path, err)
	}
	return nil
}

// dsn returns the driver's name for the file. Every write begins with BEGIN
// IMMEDIATE of our own, so no option of the driver is needed.
func dsn(path string, readOnly bool) string {
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

// acquire waits for the connection; release gives it back.
func (s *Store) acquire(ctx context.Context) error {
	select {
	case <-s.turn:
		return nil
	default:
	}
	select {
	case <-s.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) release() { s.turn <- struct{}{} }

// stmt returns a prepared statement, which lives as long as the Store.
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

// exec runs a prepared statement.
func (s *Store) exec(ctx context.Context, query string, args ...any) (driver.Result, error) {
	st, err := s.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	named, err := arguments(args)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(ctx, named)
}

// write runs fn in a transaction. Statements in it are not interrupted when ctx
// ends, which costs the driver a goroutine each; fn looks at ctx itself where it
// takes long.
func (s *Store) write(ctx context.Context, what string, fn func(ctx context.Context) error) error {
	if s.opt.ReadOnly {
		return &archive.Error{Code: archive.CodeDenied, Msg: "the index is open for reading only"}
	}
	if err := s.acquire(ctx); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer s.release()
	calm := context.WithoutCancel(ctx)
	if _, err := s.exec(calm, "BEGIN IMMEDIATE"); err != nil {
		return s.fail(what, err)
	}
	err := fn(calm)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		_, err = s.exec(calm, "COMMIT")
	}
	if err != nil {
		_, rollback := s.exec(calm, "ROLLBACK")
		return s.fail(what, errors.Join(err, harmless(rollback)))
	}
	return nil
}

// read runs fn on one snapshot of the index.
func (s *Store) read(ctx context.Context, what string, fn func(ctx context.Context) error) error {
	if err := s.acquire(ctx); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer s.release()
	calm := context.WithoutCancel(ctx)
	if _, err := s.exec(calm, "BEGIN"); err != nil {
		return s.fail(what, err)
	}
	err := fn(calm)
	if err == nil {
		err = ctx.Err()
	}
	_, end := s.exec(calm, "COMMIT")
	if err = errors.Join(err, end); err != nil {
		return s.fail(what, err)
	}
	return nil
}
