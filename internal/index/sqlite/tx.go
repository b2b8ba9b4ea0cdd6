package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"

	sqlite "modernc.org/sqlite"

	"strandline/internal/index"
)

// tx is a transaction of the store's connection.
type tx struct {
	*Store
	done context.Context //nolint:containedctx // the caller's: queries themselves are not interrupted
}

// Query runs a prepared statement and calls row for each row of its result.
func (t tx) Query(ctx context.Context, query string, args []any, row func(scan index.Scan) error) (err error) {
	st, err := t.stmt(ctx, query)
	if err != nil {
		return err
	}
	named, err := arguments(args)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(ctx, named)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	values := make([]driver.Value, len(rows.Columns()))
	scan := func(dest ...any) error { return assign(values, dest) }
	for {
		switch err := rows.Next(values); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := row(scan); err != nil {
			return err
		}
	}
}

// errFirst ends a query after its first row.
var errFirst = errors.New("stop after the first row")

// QueryRow reads the first row of the result and reports whether there is one.
func (t tx) QueryRow(ctx context.Context, query string, args []any, dest ...any) (found bool, err error) {
	err = t.Query(ctx, query, args, func(scan index.Scan) error {
		if err := scan(dest...); err != nil {
			return err
		}
		found = true
		return errFirst
	})
	if errors.Is(err, errFirst) {
		err = nil
	}
	return found && err == nil, err
}

// Exec runs a prepared statement and returns the number of rows it changed.
func (t tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	r, err := t.exec(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Put inserts rows one by one: with this driver an INSERT of sixteen rows took half
// as long again as sixteen of one.
func (t tx) Put(ctx context.Context, table index.Table, rows iter.Seq[[]any]) error {
	query := ""
	for row := range rows {
		if err := t.done.Err(); err != nil {
			return err
		}
		if query == "" {
			query = insertQuery(table)
		}
		if _, err := t.exec(ctx, query, row...); err != nil {
			return err
		}
	}
	return nil
}

// insertQuery returns the statement that inserts a row. SQLite parses REPLACE in a
// third of the time of an upsert that names every column twice, and a hook parses
// each statement once.
func insertQuery(table index.Table) string {
	query := "INTO " + table.Name + " (" + table.Columns + ") VALUES (" + index.Marks(strings.Count(table.Columns, ", ")+1) + ")"
	if !table.Keep && table.Sticky == "" {
		return "REPLACE " + query
	}
	return "INSERT " + query + table.OnConflict()
}

// Claim does nothing: a transaction that writes has locked the whole database.
func (tx) Claim(context.Context, int64, string) error { return nil }

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

// conn is a connection of the driver. A store has one connection and uses it in one
// goroutine at a time. It does without the pool, the locks and the goroutines of
// database/sql, because a hook runs hundreds of statements.
type conn struct{ driver driverConn }

// driverConn is implemented by the driver's connections.
type driverConn interface {
	driver.Conn
	driver.ExecerContext
	driver.ConnPrepareContext
}

// statement is a prepared statement.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

var (
	errClosed = errors.New("the index is closed")
	errDriver = errors.New("the SQLite driver does not support contexts")
)

// openConn opens a database by the driver's name for its file.
func openConn(name string) (*conn, error) {
	opened, err := new(sqlite.Driver).Open(name)
	if err != nil {
		return nil, err
	}
	c, ok := opened.(driverConn)
	if !ok {
		return nil, errors.Join(errDriver, opened.Close())
	}
	return &conn{c}, nil
}

// close closes the connection. Later calls fail with errClosed.
func (c *conn) close() error {
	if c.driver == nil {
		return errClosed
	}
	err := c.driver.Close()
	c.driver = nil
	return err
}

// exec runs one or more statements without keeping them prepared.
func (c *conn) exec(ctx context.Context, script string) error {
	if c.driver == nil {
		return errClosed
	}
	_, err := c.driver.ExecContext(ctx, script, nil)
	return err
}

// prepare prepares a statement.
func (c *conn) prepare(ctx context.Context, query string) (statement, error) {
	if c.driver == nil {
		return nil, errClosed
	}
	prepared, err := c.driver.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	st, ok := prepared.(statement)
	if !ok {
		return nil, errors.Join(errDriver, prepared.Close())
	}
	return st, nil
}

// arguments converts arguments to the driver's values, and lists to JSON.
func arguments(args []any) ([]driver.NamedValue, error) {
	out := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		out[i].Ordinal = i + 1
		var err error
		switch v := arg.(type) {
		case int64, string, []byte, bool, nil: // nearly all
			out[i].Value = v
		case int:
			out[i].Value = int64(v)
		case []int64, []string: // for json_each
			var list []byte
			list, err = json.Marshal(v)
			out[i].Value = string(list)
		default:
			out[i].Value, err = driver.DefaultParameterConverter.ConvertValue(arg)
		}
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
	}
	return out, nil
}

var (
	errNull   = errors.New("the value is NULL")
	errColumn = errors.New("the column has another type")
)

// assign stores the values of a row in the variables that dest points to.
func assign(values []driver.Value, dest []any) error {
	if len(values) != len(dest) {
		return fmt.Errorf("%w: %d columns for %d variables", errColumn, len(values), len(dest))
	}
	for i, v := range values {
		if err := assignOne(dest[i], v); err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
	}
	return nil
}

// assignOne stores a value of the driver: int64, float64, string, []byte, which is
// not shared, or nil.
func assignOne(dest any, v driver.Value) error {
	ok := false
	switch d := dest.(type) {
	case *any:
		*d, ok = v, true
	case *string:
		*d, ok = v.(string)
	case *int64:
		*d, ok = v.(int64)
	case *int:
		var n int64
		n, ok = v.(int64)
		*d = int(n)
	case *bool:
		var n int64
		n, ok = v.(int64)
		*d = n != 0
	case *[]byte:
		if *d, ok = v.([]byte); v == nil {
			return nil
		}
	case sql.Scanner:
		return d.Scan(v)
	}
	if ok {
		return nil
	}
	return assignKind(reflect.ValueOf(dest).Elem(), v)
}

// assignKind stores a value in a variable of a named type, in a float, in bytes, or
// behind a pointer that is nil for NULL.
func assignKind(to reflect.Value, v driver.Value) error {
	kind := to.Kind()
	if kind == reflect.Pointer {
		to.SetZero()
		if v == nil {
			return nil
		}
		to.Set(reflect.New(to.Type().Elem()))
		return assignKind(to.Elem(), v)
	}
	fits := false
	switch v.(type) {
	case nil:
		return errNull
	case int64:
		fits = to.CanInt() || to.CanFloat()
	case float64:
		fits = to.CanFloat()
	case string, []byte:
		fits = kind == reflect.String || kind == reflect.Slice
	}
	if !fits {
		return fmt.Errorf("%w: %T for %s", errColumn, v, to.Type())
	}
	to.Set(reflect.ValueOf(v).Convert(to.Type()))
	return nil
}
