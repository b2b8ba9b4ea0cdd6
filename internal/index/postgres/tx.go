package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// tx is a transaction of the store.
type tx struct {
	pgx pgx.Tx
	opt *Options
}

// Query runs a query and calls row for each row of its result.
func (t tx) Query(ctx context.Context, query string, args []any, row func(scan index.Scan) error) error {
	result, err := t.pgx.Query(ctx, dollars(query), cleanAll(args)...)
	if err != nil {
		return failed(query, err)
	}
	defer result.Close()
	for result.Next() {
		if err := row(result.Scan); err != nil {
			return failed(query, err)
		}
	}
	return failed(query, result.Err())
}

// QueryRow reads the first row of the result and reports whether there is one.
func (t tx) QueryRow(ctx context.Context, query string, args []any, dest ...any) (found bool, err error) {
	err = t.pgx.QueryRow(ctx, dollars(query), cleanAll(args)...).Scan(dest...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, failed(query, err)
}

// Exec runs a statement and returns the number of rows it changed.
func (t tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := t.pgx.Exec(ctx, dollars(query), cleanAll(args)...)
	return tag.RowsAffected(), failed(query, err)
}

// failed adds the beginning of a query to its error.
func failed(query string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", archive.Clip(strings.Join(strings.Fields(query), " "), 60), err)
}

// dollars replaces SQLite's parameters by PostgreSQL's: "?" by "$1", "$2" and so on,
// "?2" by "$2".
func dollars(query string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		before, rest, found := strings.Cut(query, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteByte('$')
		if rest == "" || rest[0] < '0' || rest[0] > '9' {
			b.WriteString(strconv.Itoa(n))
		}
		query = rest
	}
}

// cleanAll replaces what PostgreSQL does not accept in texts.
func cleanAll(args []any) []any {
	return archive.Convert(args, func(arg any) any {
		switch v := arg.(type) {
		case string:
			return clean(v)
		case []string:
			return archive.Convert(v, clean)
		}
		return arg
	})
}

// clean replaces NUL bytes and invalid UTF-8 by U+FFFD.
func clean(s string) string {
	const replacement = "\uFFFD"
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", replacement)
	}
	return strings.ToValidUTF8(s, replacement)
}

// Put inserts rows by one statement.
func (t tx) Put(ctx context.Context, table index.Table, rows iter.Seq[[]any]) error {
	b := newBulk(table)
	for row := range rows {
		b.add(row...)
	}
	return b.insert(ctx, t, table.OnConflict())
}

// Claim locks the session's row until the transaction ends. It fails if the session
// belongs to another author, or was deleted for good.
func (t tx) Claim(ctx context.Context, no int64, session string) error {
	var known, deleted bool
	var author string
	const query = "SELECT known, author, EXISTS (SELECT 1 FROM forgotten WHERE fact = ?2) FROM sessions WHERE no = ?1 FOR UPDATE"
	if _, err := t.QueryRow(ctx, query, []any{no, archive.Owner(session)}, &known, &author, &deleted); err != nil {
		return err
	}
	switch {
	case deleted:
		return denied(fmt.Sprintf("session %s was deleted from the team's archive for good", archive.ShortID(session)), "")
	case known && author != clean(t.opt.Author):
		return denied(fmt.Sprintf("session %s was pushed by %s", archive.ShortID(session), author),
			"set postgres.author to the same name on all of your machines")
	}
	return nil
}

func denied(msg, hint string) error {
	return &archive.Error{Code: archive.CodeDenied, Msg: msg, Hint: hint}
}

// Refill does nothing: texts are never trimmed.
func (tx) Refill(context.Context, int64, []*archive.Passage) error { return nil }

// bulk collects rows for one statement over whole columns, which takes one round trip
// for any number of rows. COPY would be faster, but cannot replace rows.
type bulk struct {
	table   index.Table
	columns [][]any
	at      map[string]int // rows by key: one statement may change a row once
}

func newBulk(table index.Table) *bulk {
	return &bulk{table: table, columns: make([][]any, strings.Count(table.Columns, ", ")+1), at: map[string]int{}}
}

// add adds a row. A row with the key of an added one replaces it, unless the table
// keeps the first.
func (b *bulk) add(values ...any) {
	key := fmt.Sprint(values[:b.table.Key]...)
	at, exists := b.at[key]
	switch {
	case !exists:
		b.at[key] = len(b.at)
		for i, v := range values {
			b.columns[i] = append(b.columns[i], v)
		}
	case !b.table.Keep:
		for i, v := range values {
			b.columns[i][at] = v
		}
	}
}

// exec runs a statement with the collected rows in place of the word ROWS. It does
// nothing without rows.
func (b *bulk) exec(ctx context.Context, t tx, query string) error {
	if len(b.at) == 0 {
		return nil
	}
	arrays := make([]string, len(b.columns))
	args := make([]any, len(b.columns))
	for i, column := range b.columns {
		arrays[i], args[i] = "?::"+arrayType(column[0])+"[]", cleanAll(column)
	}
	_, err := t.Exec(ctx, strings.Replace(query, "ROWS", "unnest("+strings.Join(arrays, ", ")+")", 1), args...)
	return err
}

func arrayType(v any) string {
	switch v.(type) {
	case string:
		return "text"
	case bool:
		return "boolean"
	case float64:
		return "double precision"
	case []byte:
		return "bytea"
	}
	return "bigint"
}

// insert inserts the rows. conflict is the ON CONFLICT clause.
func (b *bulk) insert(ctx context.Context, t tx, conflict string) error {
	return b.exec(ctx, t, "INSERT INTO "+b.table.Name+" ("+b.table.Columns+") SELECT * FROM ROWS"+conflict)
}
