package sqlite

import (
	"context"

	"strandline/internal/archive"
	"strandline/internal/index"
)

func filesQuery(no int64, sp archive.Span) (string, []any) {
	return newSpan("turn, step, seq, path, "+fileColumns, "files r", "r.line", no, sp).End("turn, step, seq, path", sp)
}

// Files returns which files a session's calls touched, in the order of the calls.
func (s *Store) Files(ctx context.Context, sp archive.Span) ([]archive.FileTouch, error) {
	build := func(no int64) (string, []any) { return filesQuery(no, sp) }
	return listed(ctx, s, "files", sp.Session, 0, build, index.ReadFile)
}

func tasksQuery(no int64, sp archive.Span) (string, []any) {
	return newSpan("line, seq, "+taskColumns, "tasks r", "r.line", no, sp).End("line, seq", sp)
}

// Tasks returns a session's task events in their order.
func (s *Store) Tasks(ctx context.Context, sp archive.Span) ([]archive.TaskEvent, error) {
	build := func(no int64) (string, []any) { return tasksQuery(no, sp) }
	return listed(ctx, s, "tasks", sp.Session, 0, build, index.ReadTask)
}

func compactionsQuery(no int64, sp archive.Span) (string, []any) {
	return newSpan("idx, "+compactionColumns, "compactions r", "r.line", no, sp).End("idx", sp)
}

// Compactions returns a session's compactions in their order. A summary that
// stands at BeforeLine or later is not there yet.
func (s *Store) Compactions(ctx context.Context, sp archive.Span) ([]archive.Compaction, error) {
	build := func(no int64) (string, []any) { return compactionsQuery(no, sp) }
	return listed(ctx, s, "compactions", sp.Session, 0, build, index.ReadCompaction(sp.BeforeLine))
}
