package postgres

import (
	"context"
	"time"

	"strandline/internal/archive"
	"strandline/internal/store/rows"
)

func filesQuery(no int64, sp archive.Span) (string, []any) {
	return newSpan("turn, step, seq, path, "+fileColumns, "files r", "r.line", no, sp).end("turn, step, seq, path", sp)
}

// Files returns which files a session's calls touched, in the order of the calls.
func (s *Store) Files(ctx context.Context, sp archive.Span) (out []archive.FileTouch, err error) {
	build := func(no int64) (string, []any) { return filesQuery(no, sp) }
	err = s.span(ctx, "files", sp.Session, build, func(scan scanFunc) error {
		x := archive.FileTouch{Session: sp.Session}
		var at int64
		err := scan(&x.Turn, &x.Step, &x.Seq, &x.Path, &x.Kind, &x.Line, &at)
		x.Time = rows.Instant(at)
		out = append(out, x)
		return err
	})
	return out, err
}

func tasksQuery(no int64, sp archive.Span) (string, []any) {
	return newSpan("line, seq, "+taskColumns, "tasks r", "r.line", no, sp).end("line, seq", sp)
}

// Tasks returns a session's task events in their order.
func (s *Store) Tasks(ctx context.Context, sp archive.Span) (out []archive.TaskEvent, err error) {
	build := func(no int64) (string, []any) { return tasksQuery(no, sp) }
	err = s.span(ctx, "tasks", sp.Session, build, func(scan scanFunc) error {
		x := archive.TaskEvent{Session: sp.Session}
		var at int64
		err := scan(&x.Line, &x.Seq, &x.TaskID, &x.Subject, &x.Status, &at, &x.Turn, &x.Step)
		x.Time = rows.Instant(at)
		out = append(out, x)
		return err
	})
	return out, err
}

func compactionsQuery(no int64, sp archive.Span) (string, []any) {
	return newSpan("idx, "+compactionColumns, "compactions r", "r.line", no, sp).end("idx", sp)
}

// Compactions returns a session's compactions in their order. A summary that
// stands at BeforeLine or later is not there yet.
func (s *Store) Compactions(ctx context.Context, sp archive.Span) (out []archive.Compaction, err error) {
	build := func(no int64) (string, []any) { return compactionsQuery(no, sp) }
	err = s.span(ctx, "compactions", sp.Session, build, func(scan scanFunc) error {
		x := archive.Compaction{Session: sp.Session}
		var at, duration int64
		err := scan(&x.Index, &x.Line, &at, &x.Trigger, &x.PreTokens, &x.PostTokens, &duration, &x.SummaryLine, &x.Kept, &x.Ours, &x.Turn)
		x.Time, x.Duration = rows.Instant(at), time.Duration(duration)
		if sp.BeforeLine > 0 && x.SummaryLine >= sp.BeforeLine {
			x.SummaryLine = -1
		}
		out = append(out, x)
		return err
	})
	return out, err
}
