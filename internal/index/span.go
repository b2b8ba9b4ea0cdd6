package index

import (
	"strconv"
	"strings"

	"strandline/internal/archive"
)

// SpanQuery builds a SELECT over the rows of one session.
type SpanQuery struct {
	strings.Builder
	Args []any
	mark Marked
}

// Marked is how a database names the n-th argument of a query, from 1.
type Marked func(n int) string

// Question is an argument's mark where they are counted by the database.
func Question(int) string { return "?" }

// Dollar is an argument's mark where they are counted by us.
func Dollar(n int) string { return "$" + strconv.Itoa(n) }

// NewSpan starts a query: columns of a table whose alias is r, narrowed to sp.
// line is the expression for where a row begins.
func NewSpan(mark Marked, columns, table, line string, session int64, sp archive.Span) *SpanQuery {
	q := &SpanQuery{mark: mark}
	q.WriteString("SELECT " + columns + " FROM " + table + " WHERE ")
	q.add("r.session = ?", session)
	if sp.TurnTo > 0 {
		q.And("r.turn >= ? AND r.turn < ?", sp.TurnFrom, sp.TurnTo)
	}
	if sp.BeforeLine > 0 {
		q.And(line+" < ?", sp.BeforeLine)
	}
	return q
}

// And adds a condition, in which each ? stands for the next of args.
func (q *SpanQuery) And(condition string, args ...any) {
	q.WriteString(" AND ")
	q.add(condition, args...)
}

func (q *SpanQuery) add(text string, args ...any) {
	for _, arg := range args {
		before, behind, _ := strings.Cut(text, "?")
		q.Args = append(q.Args, arg)
		q.WriteString(before + q.mark(len(q.Args)))
		text = behind
	}
	q.WriteString(text)
}

// End closes the query with the order of key, a list of columns.
func (q *SpanQuery) End(key string, sp archive.Span) (query string, args []any) {
	columns := strings.Split(key, ", ")
	for i, c := range columns {
		columns[i] = "r." + c
		if sp.Newest {
			columns[i] += " DESC"
		}
	}
	q.WriteString(" ORDER BY " + strings.Join(columns, ", "))
	if sp.Limit > 0 {
		q.add(" LIMIT ?", sp.Limit)
	}
	return q.String(), q.Args
}
