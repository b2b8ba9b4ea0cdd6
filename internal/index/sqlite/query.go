package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
)

// scanFunc reads the current row.
type scanFunc func(dest ...any) error

// query runs a prepared statement and calls row for each row of its answer.
func (s *Store) query(ctx context.Context, query string, args []any, row func(scan scanFunc) error) error {
	st, err := s.stmt(ctx, query)
	if err != nil {
		return err
	}
	var values []driver.Value
	scan := func(dest ...any) error { return assign(values, dest) }
	return each(ctx, st, args, func(_ []string, now []driver.Value) error {
		values = now
		return row(scan)
	})
}

// errFirst ends a query behind its first row.
var errFirst = errors.New("the first row is enough")

// queryRow reads the first row of the answer and reports whether there is one.
func (s *Store) queryRow(ctx context.Context, query string, args []any, dest ...any) (found bool, err error) {
	err = s.query(ctx, query, args, func(scan scanFunc) error {
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

// marks returns n question marks for an IN list.
func marks(n int) string { return "?" + strings.Repeat(", ?", n-1) }

// anys makes arguments of a list.
func anys[T any](v []T) []any {
	out := make([]any, len(v))
	for i := range v {
		out[i] = v[i]
	}
	return out
}

// inChunks calls fn with lists of at most 512 arguments whose lengths are powers
// of two, so that few different statements are prepared; a list is filled up
// with its last value.
func inChunks[T any](values []T, fn func(chunk []any) error) error {
	for len(values) > 0 {
		n := min(len(values), 512)
		size := 1
		for size < n {
			size *= 2
		}
		chunk := anys(values[:n])
		for len(chunk) < size {
			chunk = append(chunk, chunk[n-1])
		}
		if err := fn(chunk); err != nil {
			return err
		}
		values = values[n:]
	}
	return nil
}
