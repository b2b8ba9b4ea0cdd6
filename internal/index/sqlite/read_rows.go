package sqlite

import (
	"context"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// newSpan starts a query over the rows of one session.
func newSpan(columns, table, line string, session int64, sp archive.Span) *index.SpanQuery {
	return index.NewSpan(index.Question, columns, table, line, session, sp)
}

// in narrows the query to rows whose column is one of values, if there are any.
func in[T ~string](q *index.SpanQuery, column string, values []T) {
	if len(values) == 0 {
		return
	}
	texts := make([]any, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	q.And(column+" IN ("+marks(len(values))+")", texts...)
}

// span runs a query over one session. An unknown session has no rows.
func (s *Store) span(ctx context.Context, what, session string, build func(no int64) (string, []any), row func(scan scanFunc) error) error {
	return s.read(ctx, "read "+what, func(ctx context.Context) error {
		no, err := s.number(ctx, session)
		if err != nil || no == 0 {
			return err
		}
		query, args := build(no)
		return s.query(ctx, query, args, row)
	})
}

// room returns an empty list for as many rows as a query may give: one that grows
// row by row is copied a dozen times, and each copy lies on fresh pages.
func room[T any](limit int) []T {
	if limit <= 0 {
		return nil
	}
	return make([]T, 0, min(limit, maxRoom))
}

// maxRoom is how many rows are made room for at most.
const maxRoom = 4096

// listed reads the rows of a query over one session, at most limit ones if that is
// not 0.
func listed[T any](ctx context.Context, s *Store, what, session string, limit int, build func(no int64) (string, []any),
	row func(scan index.Scan, session string) (T, error),
) (out []T, err error) {
	out = room[T](limit)
	err = s.span(ctx, what, session, build, func(scan scanFunc) error {
		x, err := row(scan, session)
		out = append(out, x)
		return err
	})
	return out, err
}

const copyName = "coalesce((SELECT id FROM sessions WHERE no = r.copy_session), '')"

func turnsQuery(no int64, sp archive.Span) (string, []any) {
	return newSpan("turn, "+turnColumns+", "+copyName, "turns r", "r.line_from", no, sp).End("turn", sp)
}

// Turns returns a session's turns in their order. An unknown session has none.
func (s *Store) Turns(ctx context.Context, sp archive.Span) ([]archive.Turn, error) {
	build := func(no int64) (string, []any) { return turnsQuery(no, sp) }
	return listed(ctx, s, "turns", sp.Session, 0, build, index.ReadTurn)
}

func rewoundQuery(no int64, sp archive.Span) (query string, args []any) {
	live := newSpan("max(r.turn)", "turns r", "r.line_from", no, sp)
	live.And("r.dead = 0")
	q := newSpan("turn", "turns r", "r.line_from", no, sp)
	q.And("r.dead = 1 AND r.turn < ("+live.String()+")", live.Args...)
	return q.End("turn", sp)
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
	return newSpan("turn, step, "+stepColumns+", "+copyName, "steps r", "r.line_from", no, sp).End("turn, step", sp)
}

// Steps returns a session's steps in their order.
func (s *Store) Steps(ctx context.Context, sp archive.Span) ([]archive.Step, error) {
	build := func(no int64) (string, []any) { return stepsQuery(no, sp) }
	return listed(ctx, s, "steps", sp.Session, 0, build, index.ReadStep)
}

func callsQuery(no int64, sp archive.CallSpan) (string, []any) {
	q := newSpan("turn, step, seq, "+callColumns, "calls r", "r.line_use", no, sp.Span)
	in(q, "r.kind", sp.Kinds)
	if sp.Failed {
		q.And("r.failed = 1")
		if sp.BeforeLine > 0 {
			q.And("r.line_result < ?", sp.BeforeLine)
		}
	}
	return q.End("turn, step, seq", sp.Span)
}

// Calls returns a session's tool calls in their order. A call whose result
// stands at BeforeLine or later is returned as it was then: without outcome.
func (s *Store) Calls(ctx context.Context, sp archive.CallSpan) ([]archive.Call, error) {
	build := func(no int64) (string, []any) { return callsQuery(no, sp) }
	return listed(ctx, s, "calls", sp.Session, sp.Limit, build, index.ReadCall(sp.BeforeLine))
}

func passagesQuery(no int64, sp archive.PassageSpan) (string, []any) {
	q := newSpan(index.PassageColumns, "passages r", "r.line_from", no, sp.Span)
	if sp.BeforeLine > 0 {
		q.And("r.line_to <= ? AND r.line_from >= 0", sp.BeforeLine)
	}
	inKinds(q, sp.Kinds)
	return q.End("turn, step, seq", sp.Span)
}

// inKinds narrows a query over passages to kinds. A passage's number tells its
// kind, and the index by place holds the number: rows of other kinds are passed
// over without being looked up.
func inKinds(q *index.SpanQuery, kinds []archive.PassageKind) {
	if len(kinds) == 0 {
		return
	}
	codes := make([]any, len(kinds))
	for i, k := range kinds {
		code := index.KindCode(k)
		if code == 0 { // kinds without a number of their own share one
			in(q, "r.kind", kinds)
			return
		}
		codes[i] = code
	}
	q.And("r.id & "+index.KindMask+" IN ("+marks(len(kinds))+")", codes...)
}

// Passages returns a session's own passages in their order. With BeforeLine,
// those that end behind the line are left out as well, since their text tells of
// what came later, and so are those of hooks, which stand at no line.
func (s *Store) Passages(ctx context.Context, sp archive.PassageSpan) (out []archive.Passage, err error) {
	build := func(no int64) (string, []any) { return passagesQuery(no, sp) }
	out = room[archive.Passage](sp.Limit)
	err = s.span(ctx, "passages", sp.Session, build, func(scan scanFunc) error {
		x := archive.Passage{Session: sp.Session}
		err := index.ReadPassage(scan, &x)
		out = append(out, x)
		return err
	})
	if err == nil {
		err = s.refillPassages(ctx, out)
	}
	return out, err
}
