package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// Scan copies the columns of the current row into the variables that dest points to.
type Scan = func(dest ...any) error

// Tx is one transaction of a database. Queries mark their arguments as SQLite
// does: "?" in order, or "?1" by number.
type Tx interface {
	// Query runs a query and calls row for each row of its result.
	Query(ctx context.Context, query string, args []any, row func(scan Scan) error) error
	// QueryRow reads the first row of a result and reports whether there is one.
	QueryRow(ctx context.Context, query string, args []any, dest ...any) (found bool, err error)
	// Exec runs a statement and returns the number of rows it changed.
	Exec(ctx context.Context, query string, args ...any) (changed int64, err error)
	// Put inserts rows into a table. A row with the key of a stored row is handled
	// as the table says.
	Put(ctx context.Context, table Table, rows iter.Seq[[]any]) error

	// Claim locks a session for writing, and fails if the caller may not change it.
	Claim(ctx context.Context, no int64, session string) error
	// PutPassages stores passages of one session with their terms. A passage
	// replaces the one at the same place; only new or changed texts are indexed.
	PutPassages(ctx context.Context, session int64, agent bool, ps []archive.Passage) error
	// DropPassages deletes passages, their terms and their vectors.
	DropPassages(ctx context.Context, ids []int64) error

	// Postings returns the passages that hold each word and each prefix, within the
	// bounds of the scope: lists without a term, first those of the words. With
	// limit > 0 each list holds at least the newest passages up to that number.
	Postings(ctx context.Context, words, prefixes []string, scope *Scope, limit int) ([]List, error)
	// Refill sets the texts of one session's passages that the index does not hold.
	Refill(ctx context.Context, session int64, ps []*archive.Passage) error
}

// Transact runs fn in a transaction; what completes "cannot ..." in an error. The
// context that fn receives is for the transaction's queries: SQLite does not
// interrupt them when the caller's context ends.
type Transact func(ctx context.Context, what string, fn func(ctx context.Context, tx Tx) error) error

// Dialect holds the words that the schemas and the SQL of both databases write
// differently.
type Dialect struct {
	Join                string       // joins tables, in the written order if the database supports that
	Instr               string       // the function that returns the position of a substring, 0 if absent
	ForUpdate, ForShare string       // suffixes that lock the rows read
	Start, End          string       // columns of turns
	Offset              string       // column of cursors
	VectorCount         string       // column of embedders
	PassageCount        string       // the query that returns the number of passages
	WordCounts          string       // the query that returns how many passages hold each of a list of words, up to a number
	Arrays              bool         // arguments may be arrays
	Contributor         *Contributor // set if sessions have the columns author and machine
}

// Contributor names who pushes sessions to a team's archive.
type Contributor struct{ Author, Machine string }

// Table describes how rows are inserted.
type Table struct {
	Name    string
	Columns string // "a, b, c"
	Key     int    // the number of leading columns that identify a row
	Keep    bool   // a stored row wins; otherwise the new one replaces it
	Sticky  string // a boolean column that stays true once it is
}

// OnConflict returns the clause of an INSERT that handles stored rows.
func (t Table) OnConflict() string {
	if t.Keep {
		return " ON CONFLICT DO NOTHING"
	}
	columns := strings.Split(t.Columns, ", ")
	key, set := strings.Join(columns[:t.Key], ", "), columns[t.Key:]
	for i, c := range set {
		value := "excluded." + c
		if c == t.Sticky {
			value = t.Name + "." + c + " OR " + value
		}
		set[i] = c + " = " + value
	}
	return " ON CONFLICT (" + key + ") DO UPDATE SET " + strings.Join(set, ", ")
}

// Fail adds what failed to the error of an operation. e is the archive.Error that it
// returns, for the caller to classify: nil if err is an archive.Error already, ErrStale or
// the end of a context.
func Fail(what string, err error) (e *archive.Error, failed error) {
	if _, known := errors.AsType[*archive.Error](err); known || errors.Is(err, archive.ErrStale) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	e = &archive.Error{Code: archive.CodeInternal, Msg: "cannot " + what, Err: err}
	return e, e
}

// Store implements all reads and writes that do not depend on the database.
type Store struct {
	read, write Transact
	sql         Dialect
}

// New returns a Store that runs its transactions by read and write.
func New(read, write Transact, sql Dialect) *Store { return &Store{read: read, write: write, sql: sql} }

// contributorSelection selects the author and the machine of a session s, if it has them.
func (s *Store) contributorSelection() string {
	if s.sql.Contributor == nil {
		return ""
	}
	return "s.author, s.machine, "
}

// rowsOf returns the row of each element of list.
func rowsOf[T any](list []T, row func(*T) []any) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for i := range list {
			if !yield(row(&list[i])) {
				return
			}
		}
	}
}

// Rows reads the rows of a query.
func Rows[T any](ctx context.Context, tx Tx, query string, args []any, row func(scan Scan) (T, error)) (out []T, err error) {
	err = tx.Query(ctx, query, args, func(scan Scan) error {
		x, err := row(scan)
		out = append(out, x)
		return err
	})
	return out, err
}

// readRows reads the rows of a query in a separate transaction.
func readRows[T any](ctx context.Context, s *Store, what, query string, args []any, row func(scan Scan) (T, error)) ([]T, error) {
	return Read(ctx, s.read, what, func(ctx context.Context, tx Tx) ([]T, error) { return Rows(ctx, tx, query, args, row) })
}

// Value reads the only column of a query's first row, the zero value if there is no row.
func Value[T any](ctx context.Context, tx Tx, query string, args ...any) (v T, err error) {
	_, err = tx.QueryRow(ctx, query, args, &v)
	return v, err
}

// Column reads the only column of a query's rows.
func Column[T any](ctx context.Context, tx Tx, query string, args ...any) ([]T, error) {
	return Rows(ctx, tx, query, args, func(scan Scan) (v T, err error) {
		err = scan(&v)
		return v, err
	})
}

// AddColumn adds the only column of a query's rows to a set.
func AddColumn[T comparable](ctx context.Context, tx Tx, set map[T]bool, query string, args ...any) error {
	list, err := Column[T](ctx, tx, query, args...)
	for _, v := range list {
		set[v] = true
	}
	return err
}

// Read runs fn in a transaction and returns its result.
func Read[T any](ctx context.Context, read Transact, what string, fn func(ctx context.Context, tx Tx) (T, error)) (out T, err error) {
	err = read(ctx, what, func(ctx context.Context, tx Tx) (err error) {
		out, err = fn(ctx, tx)
		return err
	})
	return out, err
}

// Marks returns n question marks for an IN list.
func Marks(n int) string { return "?" + strings.Repeat(", ?", n-1) }

// anys returns a list as arguments.
func anys[T any](list []T) []any { return archive.Convert(list, func(v T) any { return v }) }

// maxChunk is the number of arguments that one IN list has at most.
const maxChunk = 512

// inChunks calls fn with chunks of values, each as a condition on a column and its
// arguments. The lengths are powers of two, so that few different statements are prepared:
// the last value is repeated. A database with arrays gets all values at once.
func inChunks[T any](s *Store, values []T, fn func(in string, args []any) error) error {
	if s.sql.Arrays {
		return fn(" = ANY(?)", []any{values})
	}
	for part := range slices.Chunk(values, maxChunk) {
		size := 1
		for size < len(part) {
			size *= 2
		}
		chunk := anys(part)
		for len(chunk) < size {
			chunk = append(chunk, chunk[len(part)-1])
		}
		if err := fn(" IN ("+Marks(size)+")", chunk); err != nil {
			return err
		}
	}
	return nil
}

// execAll runs statements with the same arguments.
func execAll(ctx context.Context, tx Tx, queries []string, args ...any) error {
	for _, query := range queries {
		if _, err := tx.Exec(ctx, query, args...); err != nil {
			return err
		}
	}
	return nil
}

// SessionNumber returns the number of a session ID, 0 if it has none.
func SessionNumber(ctx context.Context, tx Tx, id string) (no int64, err error) {
	return Value[int64](ctx, tx, "SELECT no FROM sessions WHERE id = ?", id)
}

// intern returns the number of a session ID and assigns one if it has none.
func intern(ctx context.Context, tx Tx, id string) (no int64, err error) {
	if no, err = SessionNumber(ctx, tx, id); err != nil || no != 0 {
		return no, err
	}
	// Another transaction may assign the number first. RETURNING would make SQLite begin
	// a statement transaction, at which the full-text table writes a segment.
	if _, err = tx.Exec(ctx, "INSERT INTO sessions (id) VALUES (?) ON CONFLICT (id) DO NOTHING", id); err != nil {
		return 0, err
	}
	return SessionNumber(ctx, tx, id)
}

// internAll adds the numbers of session IDs to numbers.
func internAll(ctx context.Context, tx Tx, numbers map[string]int64, ids []string) error {
	for _, id := range ids {
		if numbers[id] != 0 {
			continue
		}
		no, err := intern(ctx, tx, id)
		if err != nil {
			return err
		}
		numbers[id] = no
	}
	return nil
}
