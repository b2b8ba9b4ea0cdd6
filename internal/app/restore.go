package app

import (
	"context"
	"math"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/task"
	"strandline/internal/text"
)

// Context is a text for a compaction: the restored context or the steering text.
type Context struct {
	Session string   `json:"session"`
	Chars   int      `json:"chars"`
	Text    string   `json:"text"`
	Handles []string `json:"handles"`
	LeftOut int      `json:"left_out"`
}

// ContextQuery selects a text for a compaction.
type ContextQuery struct {
	Session string // handle or ID
	Role    string // "": no role
	AtLine  int    // as if the session had ended before this line; 0: its end
	Budget  *int   // characters; nil: the setting
}

// Restore returns the context that a compaction of a session would get back.
func (a *App) Restore(ctx context.Context, q ContextQuery) (Context, error) {
	return a.contextText(ctx, q, func(x Archive, req compact.Request) (b compact.Output, err error) {
		if q.Role != "" {
			if req.Role, err = compact.ParseRole(q.Role); err != nil {
				return b, err
			}
		}
		if q.Budget == nil {
			req.Budget = x.Config.Restore.Budget
		}
		req.Log, req.Redact = x.Capture.Conversation, x.Redact
		if err := a.learnedWeights(ctx, x, &req); err != nil {
			return b, err
		}
		return compact.Restore(ctx, x.Index, req)
	})
}

// Preserve returns the steering text for the client's summarizer.
func (a *App) Preserve(ctx context.Context, q ContextQuery) (Context, error) {
	return a.contextText(ctx, q, func(x Archive, req compact.Request) (b compact.Output, err error) {
		if q.Budget == nil {
			req.Budget = x.Config.Compaction.InstructionBudget
		}
		if req.AtLine == 0 && a.Changes != nil { // the state of the work tree is known for now only
			s, err := x.Index.Session(ctx, req.Session)
			if err != nil {
				return b, err
			}
			req.Changes = func(ctx context.Context) string { return a.Changes(x.Config)(ctx, s.Cwd) }
		}
		if req.Summaries, err = a.segmentSummaries(ctx, x, req); err != nil {
			return b, err
		}
		b.Text, err = compact.Preserve(ctx, x.Index, req)
		return b, err
	})
}

func (a *App) contextText(ctx context.Context, q ContextQuery, build func(Archive, compact.Request) (compact.Output, error)) (Context, error) {
	return readSession(ctx, a, q.Session, func(x Archive, id string) (Context, error) {
		req := compact.Request{Session: id, AtLine: q.AtLine, Now: a.Now()}
		if q.Budget != nil {
			req.Budget = *q.Budget
		}
		b, err := build(x, req)
		return Context{Session: id, Chars: text.Units(b.Text), Text: b.Text, Handles: append([]string{}, b.Handles...), LeftOut: b.Left}, err
	})
}

// segmentSummaries returns the summaries that the hook passes to a compaction. With
// AtLine they are extracted again from what precedes that line.
func (a *App) segmentSummaries(ctx context.Context, x Archive, req compact.Request) (out []compact.Summary, err error) {
	if x.Config.Segments.Disabled {
		return nil, nil
	}
	state, err := task.LoadState(ctx, x.Index, req.Session)
	if err != nil {
		return nil, err
	}
	now := math.MaxInt
	if req.AtLine > 0 {
		h, err := task.Load(ctx, x.Index, req.Session, req.AtLine)
		if err != nil {
			return nil, err
		}
		now = len(h.Steps)
		state = task.StateOf(h.Check(&task.State{}, summarizeAll, x.SegmentOptions(), req.Now), req.Now)
	}
	for _, e := range state.Kept(now) {
		at := archive.Ref{Session: e.Session, Turn: e.StartTurn, Step: -1}
		out = append(out, compact.Summary{Handle: at.Handle(), Text: e.Content})
	}
	return out, nil
}

// learnedWeights puts the learned weights of token shapes into req. With AtLine they
// are those that were known at that line.
func (a *App) learnedWeights(ctx context.Context, x Archive, req *compact.Request) (err error) {
	tallies, _ := Learned{Path: x.Config.Paths.Learned()}.Read()
	if req.AtLine > 0 {
		now := req.Now
		before, err := x.Index.Steps(ctx, archive.Span{Session: req.Session, BeforeLine: req.AtLine, Newest: true, Limit: 1})
		if err != nil {
			return err
		}
		if len(before) > 0 {
			now = before[0].Time
		}
		if tallies, err = TalliesAt(ctx, x.Journal, now); err != nil {
			return err
		}
	}
	l := compact.Learner{How: x.Config.Restore.Learn, Tallies: func() map[string]archive.Tally { return tallies }}
	req.Weights = l.Weights()
	return nil
}
