package postgres

import (
	"context"
	"fmt"
	"strings"

	"strandline/internal/index"
)

// bulk collects rows for one INSERT of whole columns, which takes one round trip for
// any number of rows. COPY would be faster, but cannot replace rows.
type bulk struct {
	table   index.Table
	names   []string
	columns []column
	at      map[string]int // rows by key: one statement may change a row once
	rows    int
}

// column holds one column's values, in the list of their type.
type column struct {
	kind   string
	ints   []int64
	nulls  []*int
	texts  []string
	flags  []bool
	floats []float64
	blobs  [][]byte
}

func newBulk(table index.Table) *bulk {
	names := strings.Split(table.Columns, ", ")
	return &bulk{table: table, names: names, columns: make([]column, len(names)), at: map[string]int{}}
}

// add adds a row. A row with the key of an added one replaces it, unless the table
// keeps the first.
func (b *bulk) add(values ...any) {
	key := fmt.Sprint(values[:b.table.Key]...)
	at, exists := b.at[key]
	switch {
	case !exists:
		at = b.rows
		b.at[key] = at
		b.rows++
	case b.table.Keep:
		return
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
	case *int:
		c.kind, c.nulls = "bigint", set(c.nulls, at, v)
	case string:
		c.kind, c.texts = "text", set(c.texts, at, v)
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

// values returns the column as an argument.
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

// insert writes the rows. conflict is the ON CONFLICT clause.
func (b *bulk) insert(ctx context.Context, t tx, conflict string) error {
	if b.rows == 0 {
		return nil
	}
	arrays := make([]string, len(b.columns))
	args := make([]any, len(b.columns))
	for i := range b.columns {
		arrays[i] = "?::" + b.columns[i].kind + "[]"
		args[i] = b.columns[i].values()
	}
	_, err := t.Exec(ctx, "INSERT INTO "+b.table.Name+" ("+b.table.Columns+") SELECT * FROM unnest("+strings.Join(arrays, ", ")+") "+conflict, args...)
	return err
}

// conflict returns the ON CONFLICT clause of the table.
func (b *bulk) conflict() string {
	if b.table.Keep {
		return "ON CONFLICT DO NOTHING"
	}
	assignments := make([]string, 0, len(b.names))
	for _, name := range b.names[b.table.Key:] {
		value := "excluded." + name
		if name == b.table.Sticky {
			value = b.table.Name + "." + name + " OR " + value
		}
		assignments = append(assignments, name+" = "+value)
	}
	return "ON CONFLICT (" + strings.Join(b.names[:b.table.Key], ", ") + ") DO UPDATE SET " + strings.Join(assignments, ", ")
}
