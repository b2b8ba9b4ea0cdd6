package index

import (
	"context"
	"path"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// passageColumns are the columns that ReadPassage reads.
const passageColumns = "turn, step, seq, kind, label, paths, line_from, line_to, time, partial, text"

// copyName selects the ID of the session that a row was copied from.
const copyName = "coalesce((SELECT id FROM sessions WHERE no = r.copy_session), '')"

// spanQuery builds a SELECT over the rows of one session.
type spanQuery struct {
	strings.Builder
	args []any
}

// newSpan starts a query for columns of a table whose alias is r, limited to sp.
// line is the column with the line at which a row begins.
func newSpan(columns, table, line string, session int64, sp archive.Span) *spanQuery {
	q := &spanQuery{args: []any{session}}
	q.WriteString("SELECT " + columns + " FROM " + table + " r WHERE r.session = ?")
	if sp.TurnTo > 0 {
		q.and("r.turn >= ? AND r.turn < ?", sp.TurnFrom, sp.TurnTo)
	}
	if sp.BeforeLine > 0 {
		q.and(line+" < ?", sp.BeforeLine)
	}
	return q
}

// and adds a condition and its arguments.
func (q *spanQuery) and(condition string, args ...any) {
	q.WriteString(" AND " + condition)
	q.args = append(q.args, args...)
}

// in limits a column to values, if there are any.
func in[T any](q *spanQuery, column string, values []T) {
	if len(values) > 0 {
		q.and(column+" IN ("+Marks(len(values))+")", anys(values)...)
	}
}

// end completes the query with the order by key, a list of columns.
func (q *spanQuery) end(key string, sp archive.Span) (query string, args []any) {
	direction := ""
	if sp.Newest {
		direction = " DESC"
	}
	q.WriteString(" ORDER BY r." + strings.ReplaceAll(key, ", ", direction+", r.") + direction)
	if sp.Limit > 0 {
		q.WriteString(" LIMIT ?")
		q.args = append(q.args, sp.Limit)
	}
	return q.String(), q.args
}

// maxCapacity is the largest list that is allocated before its rows are read.
const maxCapacity = 4096

// listed reads the rows of a query over one session. Given a limit, it allocates the list
// first: a list that grows row by row is copied a dozen times. An unknown session has no
// rows.
func listed[T any](ctx context.Context, s *Store, what string, sp archive.Span, build func(no int64) (string, []any),
	row func(scan Scan, session string) (T, error),
) (out []T, err error) {
	err = s.read(ctx, "read "+what, func(ctx context.Context, tx Tx) error {
		_, out, err = listedIn(ctx, tx, sp, build, row)
		return err
	})
	return out, err
}

// listedIn is listed in a transaction. It also returns the session's number.
func listedIn[T any](ctx context.Context, tx Tx, sp archive.Span, build func(no int64) (string, []any),
	row func(scan Scan, session string) (T, error),
) (no int64, out []T, err error) {
	if sp.Limit > 0 {
		out = make([]T, 0, min(sp.Limit, maxCapacity))
	}
	if no, err = SessionNumber(ctx, tx, sp.Session); err != nil || no == 0 {
		return no, out, err
	}
	query, args := build(no)
	err = tx.Query(ctx, query, args, func(scan Scan) error {
		x, err := row(scan, sp.Session)
		out = append(out, x)
		return err
	})
	return no, out, err
}

// spanOf builds the query for all rows of a span in a table. key and columns are lists of
// columns.
func spanOf(table, key, columns, line string, sp archive.Span) func(no int64) (string, []any) {
	return func(no int64) (string, []any) { return newSpan(key+", "+columns, table, line, no, sp).end(key, sp) }
}

// Turns returns a session's turns in their order. An unknown session has none.
func (s *Store) Turns(ctx context.Context, sp archive.Span) ([]archive.Turn, error) {
	return listed(ctx, s, "turns", sp, spanOf("turns", "turn", s.turnColumns()+", "+copyName, "r.line_from", sp), ReadTurn)
}

// Rewound returns the turns of a span that a rewind abandoned, as far as the span
// shows: dead turns with a live turn after them.
func (s *Store) Rewound(ctx context.Context, sp archive.Span) ([]int, error) {
	return listed(ctx, s, "turns", sp, func(no int64) (string, []any) {
		live := newSpan("max(r.turn)", "turns", "r.line_from", no, sp)
		live.and("r.dead = false")
		q := newSpan("turn", "turns", "r.line_from", no, sp)
		q.and("r.dead = true AND r.turn < ("+live.String()+")", live.args...)
		return q.end("turn", sp)
	}, func(scan Scan, _ string) (turn int, err error) {
		err = scan(&turn)
		return turn, err
	})
}

// Steps returns a session's steps in their order.
func (s *Store) Steps(ctx context.Context, sp archive.Span) ([]archive.Step, error) {
	return listed(ctx, s, "steps", sp, spanOf("steps", "turn, step", stepColumns+", "+copyName, "r.line_from", sp), ReadStep)
}

// Calls returns a session's tool calls in their order. A call whose result is at
// BeforeLine or later is returned without its outcome.
func (s *Store) Calls(ctx context.Context, sp archive.CallSpan) ([]archive.Call, error) {
	return listed(ctx, s, "calls", sp.Span, func(no int64) (string, []any) {
		q := newSpan("turn, step, seq, "+callColumns, "calls", "r.line_use", no, sp.Span)
		in(q, "r.kind", sp.Kinds)
		if sp.Failed {
			q.and("r.failed = true")
			if sp.BeforeLine > 0 {
				q.and("r.line_result < ?", sp.BeforeLine)
			}
		}
		return q.end("turn, step, seq", sp.Span)
	}, ReadCall(sp.BeforeLine))
}

// Files returns the files that a session's calls touched, in the order of the calls.
func (s *Store) Files(ctx context.Context, sp archive.Span) ([]archive.FileTouch, error) {
	return listed(ctx, s, "files", sp, spanOf("files", "turn, step, seq, path", fileColumns, "r.line", sp), ReadFile)
}

// Tasks returns a session's task events in their order.
func (s *Store) Tasks(ctx context.Context, sp archive.Span) ([]archive.TaskEvent, error) {
	return listed(ctx, s, "tasks", sp, spanOf("tasks", "line, seq", taskColumns, "r.line", sp), ReadTask)
}

// Compactions returns a session's compactions in their order. A summary at
// BeforeLine or later is left out of its compaction.
func (s *Store) Compactions(ctx context.Context, sp archive.Span) ([]archive.Compaction, error) {
	return listed(ctx, s, "compactions", sp, spanOf("compactions", "idx", compactionColumns, "r.line", sp), ReadCompaction(sp.BeforeLine))
}

// Passages returns a session's own passages in their order. With BeforeLine, it
// leaves out those that end after the line, whose text may hold later output, and
// those from hooks, which have no line.
func (s *Store) Passages(ctx context.Context, sp archive.PassageSpan) (out []archive.Passage, err error) {
	build := func(no int64) (string, []any) {
		q := newSpan(passageColumns, "passages", "r.line_from", no, sp.Span)
		if sp.BeforeLine > 0 {
			q.and("r.line_to <= ? AND r.line_from >= 0", sp.BeforeLine)
		}
		inKinds(q, sp.Kinds)
		if sp.Failed {
			q.and(ofFailedCall)
		}
		return q.end("turn, step, seq", sp.Span)
	}
	err = s.read(ctx, "read passages", func(ctx context.Context, tx Tx) error {
		var no int64
		no, out, err = listedIn(ctx, tx, sp.Span, build, func(scan Scan, session string) (archive.Passage, error) {
			x := archive.Passage{Session: session}
			err := ReadPassage(scan, &x)
			return x, err
		})
		if err != nil {
			return err
		}
		out = slices.DeleteFunc(out, func(p archive.Passage) bool { return !p.Of(sp.Kinds) })
		return refill(ctx, tx, no, out)
	})
	return out, err
}

// ofFailedCall limits a query over passages r to those of calls that failed.
const ofFailedCall = "EXISTS (SELECT 1 FROM calls c WHERE c.session = r.session AND c.turn = r.turn AND c.step = r.step AND c.line_use = r.line_from AND c.failed = true)"

// storedKind returns the kind of the passages that a query's kind selects.
func storedKind(k archive.PassageKind) archive.PassageKind {
	if k == archive.KindThinking {
		return archive.KindReply
	}
	return k
}

// inKinds limits a query over passages to kinds. The kind is part of a passage's ID,
// which the index by place holds: rows of other kinds are skipped without a lookup.
func inKinds(q *spanQuery, kinds []archive.PassageKind) {
	kinds = archive.Convert(kinds, storedKind)
	codes := archive.Convert(kinds, KindCode)
	if slices.Contains(codes, 0) { // unknown kinds share a code
		in(q, "r.kind", kinds)
		return
	}
	in(q, "r.id & "+kindMask, codes)
}

// refill sets the texts that the index does not hold: passages of one session.
func refill(ctx context.Context, tx Tx, session int64, ps []archive.Passage) error {
	var missing []*archive.Passage
	for i := range ps {
		if ps[i].Text == "" {
			missing = append(missing, &ps[i])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return tx.Refill(ctx, session, missing)
}

// ReadTurn reads a turn: its number, turnColumns and copyName.
func ReadTurn(scan Scan, session string) (archive.Turn, error) {
	x, from, owner := archive.Turn{Session: session}, archive.Ref{}, int64(0)
	err := scan(&x.Index, &x.Title, &x.PromptID, asTime(&x.Start), asTime(&x.End), &x.LineFrom, &x.LineTo, &x.Steps, &x.Dead,
		&owner, &from.Turn, &from.Step, &from.Session)
	if from.Session != "" {
		x.Copy = &from
	}
	return x, err
}

// ReadStep reads a step: its turn and number, stepColumns and copyName.
func ReadStep(scan Scan, session string) (archive.Step, error) {
	x, from, owner := archive.Step{Session: session}, archive.Ref{}, int64(0)
	err := scan(&x.Turn, &x.Index, &x.MessageID, &x.Model, asTime(&x.Time), &x.LineFrom, &x.LineTo, &x.Usage.Input, &x.Usage.Output,
		&x.Usage.CacheRead, &x.Usage.CacheWrite, &x.Stop, &x.APIError, &x.Sidechain, &owner, &from.Turn, &from.Step, &from.Session)
	if from.Session != "" {
		x.Copy = &from
	}
	return x, err
}

// ReadCall returns a function that reads a tool call as of a line: a call whose
// result is at beforeLine or later has no outcome. 0 means the end of the session.
func ReadCall(beforeLine int) func(scan Scan, session string) (archive.Call, error) {
	return func(scan Scan, session string) (archive.Call, error) {
		x := archive.Call{Session: session}
		err := scan(&x.Turn, &x.Step, &x.Seq, &x.ToolID, &x.Name, &x.Kind, &x.Command, (*list)(&x.Files), &x.Exit, &x.Failed, &x.Error,
			&x.Duration, &x.LineUse, &x.LineResult)
		if beforeLine > 0 && x.LineResult >= beforeLine {
			x.LineResult, x.Exit, x.Failed, x.Error, x.Duration = -1, nil, false, "", 0
		}
		return x, err
	}
}

// ReadPassage reads passageColumns into x, and the columns after them into more.
func ReadPassage(scan Scan, x *archive.Passage, more ...any) error {
	return scan(append([]any{
		&x.Turn, &x.Step, &x.Seq, &x.Kind, &x.Label, (*list)(&x.Paths), &x.LineFrom, &x.LineTo, asTime(&x.Time), &x.Partial, &x.Text,
	}, more...)...)
}

// ReadFile reads the record that a call touched a file.
func ReadFile(scan Scan, session string) (archive.FileTouch, error) {
	x := archive.FileTouch{Session: session}
	err := scan(&x.Turn, &x.Step, &x.Seq, &x.Path, &x.Kind, &x.Line, asTime(&x.Time))
	return x, err
}

// ReadTask reads a task event.
func ReadTask(scan Scan, session string) (archive.TaskEvent, error) {
	x := archive.TaskEvent{Session: session}
	err := scan(&x.Line, &x.Seq, &x.TaskID, &x.Subject, &x.Status, asTime(&x.Time), &x.Turn, &x.Step)
	return x, err
}

// ReadCompaction returns a function that reads a compaction as of a line: it has no
// summary if that is at beforeLine or later. 0 means the end of the session.
func ReadCompaction(beforeLine int) func(scan Scan, session string) (archive.Compaction, error) {
	return func(scan Scan, session string) (archive.Compaction, error) {
		x := archive.Compaction{Session: session}
		err := scan(&x.Index, &x.Line, asTime(&x.Time), &x.Trigger, &x.PreTokens, &x.PostTokens, &x.Duration, &x.SummaryLine, &x.Kept, &x.Ours, &x.Turn)
		if beforeLine > 0 && x.SummaryLine >= beforeLine {
			x.SummaryLine = -1
		}
		return x, err
	}
}

// History returns the reads and changes of a file in all sessions, and the commands
// that name it, ordered by time.
func (s *Store) History(ctx context.Context, f archive.HistoryFilter) (out []archive.Touch, err error) {
	f.Path = strings.TrimPrefix(f.Path, "./")
	if f.Path == "" || strings.HasSuffix(f.Path, "/") {
		return nil, archive.Invalid("the path of a file is required", "give a path or the end of one, e.g. pay/retry.go")
	}
	err = s.read(ctx, "read a file's history", func(ctx context.Context, tx Tx) error {
		names, err := readProjects(ctx, tx)
		if err != nil {
			return err
		}
		projects := names.Numbers(f.Projects)
		row := func(scan Scan) error {
			x, wanted, err := ReadTouch(scan, f, projects)
			if wanted {
				out = append(out, x)
			}
			return err
		}
		// The file tables come first: they alone decide which rows are read.
		touched := "SELECT s.id, r.turn, r.step, r.seq, r.path, r.kind, r.line, r.time, c.name, '', c.failed, s.project FROM files r " +
			s.sql.Join + " sessions s ON s.no = r.session " +
			s.sql.Join + " calls c ON c.session = r.session AND c.turn = r.turn AND c.step = r.step AND c.seq = r.seq " +
			"WHERE s.known = true AND (r.path = ?1 OR substr(r.path, length(r.path) - length(?1)) = '/' || ?1) " +
			"ORDER BY r.session, r.turn, r.step, r.seq, r.path"
		if err := tx.Query(ctx, touched, []any{f.Path}, row); err != nil {
			return err
		}
		named := "SELECT s.id, r.turn, r.step, r.seq, '', r.kind, r.line_use, t.time, r.name, r.command, r.failed, s.project FROM calls r " +
			s.sql.Join + " sessions s ON s.no = r.session " +
			s.sql.Join + " steps t ON t.session = r.session AND t.turn = r.turn AND t.step = r.step " +
			"WHERE s.known = true AND r.kind = 'command' AND " + s.sql.Instr + "(r.command, ?) > 0 ORDER BY r.session, r.turn, r.step, r.seq"
		return tx.Query(ctx, named, []any{path.Base(f.Path)}, row)
	})
	slices.SortStableFunc(out, func(a, b archive.Touch) int { return a.Time.Compare(b.Time) })
	return out, err
}

// ReadTouch reads one row of a file's history, followed by its project's number.
// wanted reports whether it passes the filter, whose projects have the given numbers.
func ReadTouch(scan Scan, f archive.HistoryFilter, projects []int64) (x archive.Touch, wanted bool, err error) {
	var project int64
	err = scan(&x.Session, &x.Turn, &x.Step, &x.Seq, &x.Path, &x.Kind, &x.Line, asTime(&x.Time), &x.Tool, &x.Command, &x.Failed, &project)
	if x.Path == "" { // of a command
		x.Path = f.Path
	}
	switch {
	case len(f.Projects) > 0 && !slices.Contains(projects, project):
	case len(f.Kinds) > 0 && !slices.Contains(f.Kinds, x.Kind):
	case !f.Since.IsZero() && x.Time.Before(f.Since):
	case x.Command != "" && !NamesFile(x.Command, f.Path):
	default:
		wanted = true
	}
	return x, wanted, err
}

// NamesFile reports whether a word of the command is a suffix of the path, or the
// path a suffix of the word, at a slash.
func NamesFile(command, file string) bool {
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`()=:;,<>|&{}[]", r) })
	return slices.ContainsFunc(words, func(w string) bool {
		w = strings.TrimPrefix(w, "./")
		return w != "" && (w == file || strings.HasSuffix(w, "/"+file) || strings.HasSuffix(file, "/"+w))
	})
}
