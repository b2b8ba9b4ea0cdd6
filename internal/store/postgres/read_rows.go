package postgres

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
	"strandline/internal/store/rows"
)

// spanQuery builds a SELECT over the rows of one session.
type spanQuery struct {
	strings.Builder
	args []any
}

// newSpan starts a query: columns of a table whose alias is r, narrowed to sp.
// line is the expression for where a row begins.
func newSpan(columns, table, line string, session int64, sp archive.Span) *spanQuery {
	q := &spanQuery{args: []any{session}}
	q.WriteString("SELECT " + columns + " FROM " + table + " WHERE r.session = $1")
	if sp.TurnTo > 0 {
		q.and("r.turn >= ? AND r.turn < ?", sp.TurnFrom, sp.TurnTo)
	}
	if sp.BeforeLine > 0 {
		q.and(line+" < ?", sp.BeforeLine)
	}
	return q
}

// and adds a condition, in which each ? stands for the next of args.
func (q *spanQuery) and(condition string, args ...any) {
	q.WriteString(" AND ")
	for _, arg := range args {
		before, behind, _ := strings.Cut(condition, "?")
		q.args = append(q.args, arg)
		q.WriteString(before + "$" + strconv.Itoa(len(q.args)))
		condition = behind
	}
	q.WriteString(condition)
}

// in narrows the query to rows whose column is one of values, if there are any.
func in[T ~string](q *spanQuery, column string, values []T) {
	if len(values) == 0 {
		return
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	q.and(column+" = ANY(?)", texts)
}

// end closes the query with the order of key, a list of columns.
func (q *spanQuery) end(key string, sp archive.Span) (sql string, args []any) {
	columns := strings.Split(key, ", ")
	for i, c := range columns {
		columns[i] = "r." + c
		if sp.Newest {
			columns[i] += " DESC"
		}
	}
	q.WriteString(" ORDER BY " + strings.Join(columns, ", "))
	if sp.Limit > 0 {
		q.args = append(q.args, sp.Limit)
		q.WriteString(" LIMIT $" + strconv.Itoa(len(q.args)))
	}
	return q.String(), q.args
}

// span runs a query over one session. An unknown session has no rows.
func (s *Store) span(ctx context.Context, what, session string, build func(no int64) (string, []any), row func(scan scanFunc) error) error {
	return s.read(ctx, "read "+what, func(ctx context.Context, tx pgx.Tx) error {
		no, err := number(ctx, tx, session)
		if err != nil || no == 0 {
			return err
		}
		sql, args := build(no)
		return query(ctx, tx, sql, args, row)
	})
}

// copied returns the reference that a row keeps of where it was copied from.
func copied(session string, turn, step int) *archive.Ref {
	if session == "" {
		return nil
	}
	return &archive.Ref{Session: session, Turn: turn, Step: step}
}

const copyName = "coalesce((SELECT id FROM sessions WHERE no = r.copy_session), '')"

func turnsQuery(no int64, sp archive.Span) (string, []any) {
	return newSpan("turn, "+turnColumns+", "+copyName, "turns r", "r.line_from", no, sp).end("turn", sp)
}

// Turns returns a session's turns in their order. An unknown session has none.
func (s *Store) Turns(ctx context.Context, sp archive.Span) (out []archive.Turn, err error) {
	build := func(no int64) (string, []any) { return turnsQuery(no, sp) }
	err = s.span(ctx, "turns", sp.Session, build, func(scan scanFunc) error {
		x := archive.Turn{Session: sp.Session}
		var start, end, owner int64
		var at archive.Ref
		err := scan(&x.Index, &x.Title, &x.PromptID, &start, &end, &x.LineFrom, &x.LineTo, &x.Steps, &x.Dead,
			&owner, &at.Turn, &at.Step, &at.Session)
		x.Start, x.End = rows.Instant(start), rows.Instant(end)
		x.Copy = copied(at.Session, at.Turn, at.Step)
		out = append(out, x)
		return err
	})
	return out, err
}

func rewoundQuery(no int64, sp archive.Span) (sql string, args []any) {
	live := newSpan("max(r.turn)", "turns r", "r.line_from", no, sp)
	live.and("NOT r.dead")
	q := newSpan("turn", "turns r", "r.line_from", no, sp)
	// The same conditions have the same arguments.
	q.and("r.dead AND r.turn < (" + live.String() + ")")
	return q.end("turn", sp)
}

// Rewound returns the turns of a span that a rewind left behind, as far as the
// span tells: dead ones with a live one behind them.
func (s *Store) Rewound(ctx context.Context, sp archive.Span) (out []int, err error) {
	build := func(no int64) (string, []any) { return rewoundQuery(no, sp) }
	err = s.span(ctx, "turns", sp.Session, build, func(scan scanFunc) error {
		var turn int
		err := scan(&turn)
		out = append(out, turn)
		return err
	})
	return out, err
}

func stepsQuery(no int64, sp archive.Span) (string, []any) {
	return newSpan("turn, step, "+stepColumns+", "+copyName, "steps r", "r.line_from", no, sp).end("turn, step", sp)
}

// Steps returns a session's steps in their order.
func (s *Store) Steps(ctx context.Context, sp archive.Span) (out []archive.Step, err error) {
	build := func(no int64) (string, []any) { return stepsQuery(no, sp) }
	err = s.span(ctx, "steps", sp.Session, build, func(scan scanFunc) error {
		x := archive.Step{Session: sp.Session}
		var at, owner int64
		var from archive.Ref
		err := scan(&x.Turn, &x.Index, &x.MessageID, &x.Model, &at, &x.LineFrom, &x.LineTo, &x.Usage.Input, &x.Usage.Output,
			&x.Usage.CacheRead, &x.Usage.CacheWrite, &x.Stop, &x.APIError, &x.Sidechain, &owner, &from.Turn, &from.Step, &from.Session)
		x.Time = rows.Instant(at)
		x.Copy = copied(from.Session, from.Turn, from.Step)
		out = append(out, x)
		return err
	})
	return out, err
}

func callsQuery(no int64, sp archive.CallSpan) (string, []any) {
	q := newSpan("turn, step, seq, "+callColumns, "calls r", "r.line_use", no, sp.Span)
	in(q, "r.kind", sp.Kinds)
	if sp.Failed {
		q.and("r.failed")
		if sp.BeforeLine > 0 {
			q.and("r.line_result < ?", sp.BeforeLine)
		}
	}
	return q.end("turn, step, seq", sp.Span)
}

// Calls returns a session's tool calls in their order. A call whose result
// stands at BeforeLine or later is returned as it was then: without outcome.
func (s *Store) Calls(ctx context.Context, sp archive.CallSpan) (out []archive.Call, err error) {
	build := func(no int64) (string, []any) { return callsQuery(no, sp) }
	err = s.span(ctx, "calls", sp.Session, build, func(scan scanFunc) error {
		x := archive.Call{Session: sp.Session}
		var files string
		var duration int64
		err := scan(&x.Turn, &x.Step, &x.Seq, &x.ToolID, &x.Name, &x.Kind, &x.Command, &files, &x.Exit, &x.Failed, &x.Error,
			&duration, &x.LineUse, &x.LineResult)
		if err != nil {
			return err
		}
		x.Duration = time.Duration(duration)
		if x.Files, err = rows.Unlist(files); err != nil {
			return err
		}
		if sp.BeforeLine > 0 && x.LineResult >= sp.BeforeLine {
			x.LineResult, x.Exit, x.Failed, x.Error, x.Duration = -1, nil, false, "", 0
		}
		out = append(out, x)
		return nil
	})
	return out, err
}

const passageColumns = "turn, step, seq, kind, label, paths, line_from, line_to, time, partial, text"

func passagesQuery(no int64, sp archive.PassageSpan) (string, []any) {
	q := newSpan(passageColumns, "passages r", "r.line_from", no, sp.Span)
	if sp.BeforeLine > 0 {
		q.and("r.line_to <= ? AND r.line_from >= 0", sp.BeforeLine)
	}
	in(q, "r.kind", sp.Kinds)
	return q.end("turn, step, seq", sp.Span)
}

// Passages returns a session's own passages in their order. With BeforeLine,
// those that end behind the line are left out as well, since their text tells of
// what came later, and so are those of hooks, which stand at no line.
func (s *Store) Passages(ctx context.Context, sp archive.PassageSpan) (out []archive.Passage, err error) {
	build := func(no int64) (string, []any) { return passagesQuery(no, sp) }
	err = s.span(ctx, "passages", sp.Session, build, func(scan scanFunc) error {
		x := archive.Passage{Session: sp.Session}
		err := scanPassage(scan, &x)
		out = append(out, x)
		return err
	})
	return out, err
}

// scanPassage reads passageColumns and what is selected behind them.
func scanPassage(scan scanFunc, x *archive.Passage, more ...any) error {
	var paths string
	var at int64
	dest := append([]any{&x.Turn, &x.Step, &x.Seq, &x.Kind, &x.Label, &paths, &x.LineFrom, &x.LineTo, &at, &x.Partial, &x.Text}, more...)
	err := scan(dest...)
	if err != nil {
		return err
	}
	x.Time = rows.Instant(at)
	x.Paths, err = rows.Unlist(paths)
	return err
}
