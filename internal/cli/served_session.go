package cli

import (
	"context"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/task"
	"strandline/internal/usage"
)

// readSession calls do with the index and the id of a session as it was typed.
func readSession[T any](ctx context.Context, s *Served, typed string, do func(x app.Archive, id string) (T, error)) (T, error) {
	return read(ctx, s, func(x app.Archive) (out T, err error) {
		_, id, err := app.ResolveSession(ctx, x.Index, typed)
		if err != nil {
			return out, err
		}
		return do(x, id)
	})
}

// Outline is a session's.
func (s *Served) Outline(ctx context.Context, typed string) (app.Outline, error) {
	return readSession(ctx, s, typed, func(x app.Archive, id string) (app.Outline, error) { return outline(ctx, x, id) })
}

// Place is the text of a turn or a step, and the calls in it.
func (s *Served) Place(ctx context.Context, at archive.Handle) (out app.Place, err error) {
	return readSession(ctx, s, at.Session, func(x app.Archive, id string) (out app.Place, err error) {
		blocks, err := x.Reader().Blocks(ctx, x.Index, id, at)
		if err != nil {
			return out, err
		}
		calls, err := x.Index.Calls(ctx, archive.CallSpan{Span: archive.Span{Session: id, TurnFrom: at.Turn, TurnTo: at.Turn + 1}})
		return app.NewPlace(archive.Ref{Session: id, Turn: at.Turn, Step: at.Step}, blocks, calls), err
	})
}

// Timeline is a session's course.
func (s *Served) Timeline(ctx context.Context, typed string) (app.Timeline, error) {
	return readSession(ctx, s, typed, func(x app.Archive, id string) (app.Timeline, error) {
		past, err := task.Load(ctx, x.Index, id, 0)
		if err != nil {
			return app.Timeline{}, err
		}
		state, err := task.LoadState(ctx, x.Index, id)
		if err != nil {
			return app.Timeline{}, err
		}
		return app.NewTimeline(past, state), nil
	})
}

// maxNesting is how many sub-agents of sub-agents a tree of tasks follows.
const maxNesting = 5

// Tasks are those of a session; a task that a sub-agent was given holds the
// sub-agent's own.
func (s *Served) Tasks(ctx context.Context, typed string, open bool) ([]app.TaskTree, error) {
	return readSession(ctx, s, typed, func(x app.Archive, id string) ([]app.TaskTree, error) {
		return taskTree(ctx, x, id, open, maxNesting)
	})
}

func taskTree(ctx context.Context, x app.Archive, id string, open bool, nesting int) ([]app.TaskTree, error) {
	past, err := task.Load(ctx, x.Index, id, 0)
	if err != nil {
		return nil, err
	}
	out := []app.TaskTree{}
	for _, t := range past.All() {
		if open && !t.Open() {
			continue
		}
		node := app.TaskTree{Task: app.NewTask(t)}
		if t.AgentID != "" && t.AgentID != id && nesting > 0 {
			if node.Tasks, err = taskTree(ctx, x, t.AgentID, open, nesting-1); err != nil {
				return nil, err
			}
		}
		out = append(out, node)
	}
	return out, nil
}

// Segments are those of a session, or all of them if none is named.
func (s *Served) Segments(ctx context.Context, typed string, pending bool) ([]app.Segment, error) {
	return read(ctx, s, func(x app.Archive) ([]app.Segment, error) {
		id, now := "", 0
		if typed != "" {
			var err error
			if _, id, err = app.ResolveSession(ctx, x.Index, typed); err != nil {
				return nil, err
			}
			info, err := x.Index.Session(ctx, id)
			if err != nil {
				return nil, err
			}
			now = info.Steps
		}
		state, err := task.LoadState(ctx, x.Index, id)
		if err != nil {
			return nil, err
		}
		return app.Segments(state, pending, now), nil
	})
}

// SessionFiles are the files that a session touched.
func (s *Served) SessionFiles(ctx context.Context, typed string) ([]app.File, error) {
	return readSession(ctx, s, typed, func(x app.Archive, id string) ([]app.File, error) {
		touches, err := x.Index.Files(ctx, archive.Span{Session: id})
		return app.Files(touches, 0), err
	})
}

// Compactions are those of a session, or the newest of all if none is named, with
// what became of them.
func (s *Served) Compactions(ctx context.Context, typed string, limit int) ([]app.Compaction, error) {
	return read(ctx, s, func(x app.Archive) ([]app.Compaction, error) {
		sessions, err := s.a.compacted(ctx, x, compactionsFlags{session: typed, all: true})
		if err != nil {
			return nil, err
		}
		list, err := s.a.outcomes(ctx, x, sessions, limit)
		return app.Compactions(list), err
	})
}

// Restore is the block that a compaction of a session would get back.
func (s *Served) Restore(ctx context.Context, ask app.ContextAsk) (app.Context, error) {
	return readSession(ctx, s, ask.Session, func(x app.Archive, id string) (out app.Context, err error) {
		req := compact.Request{Session: id, AtLine: ask.AtLine, Budget: ask.Budget, Now: s.a.app.Now()}
		if ask.Role != "" {
			if req.Role, err = compact.ParseRole(ask.Role); err != nil {
				return out, err
			}
		}
		if req.Budget == 0 {
			req.Budget = x.Config.Restore.Budget
		}
		block, err := s.a.restored(ctx, x, req)
		return app.NewContext(id, block), err
	})
}

// Preserve is the text that the client's summarizer would be given.
func (s *Served) Preserve(ctx context.Context, ask app.ContextAsk) (app.Context, error) {
	return readSession(ctx, s, ask.Session, func(x app.Archive, id string) (app.Context, error) {
		req := compact.Request{Session: id, AtLine: ask.AtLine, Budget: ask.Budget, Now: s.a.app.Now()}
		if req.Budget == 0 {
			req.Budget = x.Config.Compaction.InstructionBudget
		}
		block, err := s.a.preserved(ctx, x, req)
		return app.NewContext(id, block), err
	})
}

// lately is how long ago a session that runs was heard of.
const lately = 30 * time.Minute

// Running lists the sessions that were heard of a short while ago, with how full
// their context is.
func (s *Served) Running(ctx context.Context) ([]app.Running, error) {
	return read(ctx, s, func(x app.Archive) ([]app.Running, error) {
		list, err := x.Index.Sessions(ctx, archive.SessionFilter{Since: s.a.app.Now().Add(-lately)})
		if err != nil {
			return nil, err
		}
		out := []app.Running{}
		for _, info := range list {
			known, _ := usage.Store{Dir: x.Config.Paths.State()}.Session(info.ID) // no figures, if there are none
			out = append(out, app.NewRunning(info, known))
		}
		return out, nil
	})
}
