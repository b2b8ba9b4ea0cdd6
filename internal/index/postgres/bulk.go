package postgres

import (
	"context"
	"fmt"
	"strings"

	"strandline/internal/index"
)

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
	return b.exec(ctx, t, "INSERT INTO "+b.table.Name+" ("+b.table.Columns+") SELECT * FROM ROWS "+conflict)
}

// put inserts the rows and handles stored rows as the table says.
func (b *bulk) put(ctx context.Context, t tx) error {
	if b.table.Keep {
		return b.insert(ctx, t, "ON CONFLICT DO NOTHING")
	}
	names := strings.Split(b.table.Columns, ", ")
	key := strings.Join(names[:b.table.Key], ", ")
	names = names[b.table.Key:]
	for i, name := range names {
		value := "excluded." + name
		if name == b.table.Sticky {
			value = b.table.Name + "." + name + " OR " + value
		}
		names[i] = name + " = " + value
	}
	return b.insert(ctx, t, "ON CONFLICT ("+key+") DO UPDATE SET "+strings.Join(names, ", "))
}
