package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// bulk gathers rows for one statement: an INSERT of whole columns takes one round
// trip however many rows there are. COPY would be faster still, but cannot replace
// rows that are there.
type bulk struct {
	table   string
	key     int // so many of the first columns are the key
	names   []string
	columns []column
	at      map[string]int // rows by key: one statement may touch a row once
	rows    int
}

// column is one column's values, of one of the kinds.
type column struct {
	kind   string
	ints   []int64
	nulls  []*int64
	texts  []string
	flags  []bool
	floats []float64
	blobs  [][]byte
}

// newBulk makes one for the columns "a, b, c", of which the first key identify a row.
func newBulk(table, columns string, key int) *bulk {
	names := strings.Split(columns, ", ")
	return &bulk{table: table, key: key, names: names, columns: make([]column, len(names)), at: map[string]int{}}
}

// add takes a row; one with the same key takes the place of the other.
func (b *bulk) add(values ...any) {
	key := fmt.Sprint(values[:b.key]...)
	at, there := b.at[key]
	if !there {
		at = b.rows
		b.at[key] = at
		b.rows++
	}
	for i, v := range values {
		b.columns[i].put(at, v)
	}
}

func (c *column) put(at int, v any) {
	switch v := v.(type) {
	case int:
		c.kind, c.ints = "bigint", set(c.ints, at, int64(v))
	case int64:
		c.kind, c.ints = "bigint", set(c.ints, at, v)
	case *int64:
		c.kind, c.nulls = "bigint", set(c.nulls, at, v)
	case string:
		c.kind, c.texts = "text", set(c.texts, at, clean(v))
	case bool:
		c.kind, c.flags = "boolean", set(c.flags, at, v)
	case float64:
		c.kind, c.floats = "double precision", set(c.floats, at, v)
	case []byte:
		c.kind, c.blobs = "bytea", set(c.blobs, at, v)
	}
}

func set[T any](list []T, at int, v T) []T {
	if at < len(list) {
		list[at] = v
		return list
	}
	return append(list, v)
}

// values is the column as an argument.
func (c *column) values() any {
	switch {
	case c.nulls != nil:
		return c.nulls
	case c.ints != nil:
		return c.ints
	case c.texts != nil:
		return c.texts
	case c.flags != nil:
		return c.flags
	case c.floats != nil:
		return c.floats
	}
	return c.blobs
}

// insert writes the rows; conflict says what becomes of those that are there.
func (b *bulk) insert(ctx context.Context, tx pgx.Tx, conflict string) error {
	if b.rows == 0 {
		return nil
	}
	var sql strings.Builder
	args := make([]any, len(b.columns))
	sql.WriteString("INSERT INTO " + b.table + " (" + strings.Join(b.names, ", ") + ") SELECT * FROM unnest(")
	for i := range b.columns {
		if i > 0 {
			sql.WriteString(", ")
		}
		sql.WriteString("$" + strconv.Itoa(i+1) + "::" + b.columns[i].kind + "[]")
		args[i] = b.columns[i].values()
	}
	sql.WriteString(") " + conflict)
	_, err := exec(ctx, tx, sql.String(), args...)
	return err
}

// replace writes the rows in the place of those that are there. special gives some
// columns another value than the new one.
func (b *bulk) replace(ctx context.Context, tx pgx.Tx, special map[string]string) error {
	set := make([]string, 0, len(b.names))
	for _, name := range b.names[b.key:] {
		value, ok := special[name]
		if !ok {
			value = "excluded." + name
		}
		set = append(set, name+" = "+value)
	}
	return b.insert(ctx, tx, "ON CONFLICT ("+strings.Join(b.names[:b.key], ", ")+") DO UPDATE SET "+strings.Join(set, ", "))
}
