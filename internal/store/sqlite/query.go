package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// scanFunc reads the current row.
type scanFunc func(dest ...any) error

// query runs a prepared statement and calls row for each row of its answer.
func (s *Store) query(ctx context.Context, query string, args []any, row func(scan scanFunc) error) (err error) {
	st, err := s.stmt(ctx, query)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// queryRow reads the first row of the answer and reports whether there is one.
func (s *Store) queryRow(ctx context.Context, query string, args []any, dest ...any) (found bool, err error) {
	st, err := s.stmt(ctx, query)
	if err != nil {
		return false, err
	}
	err = st.QueryRowContext(ctx, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
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
