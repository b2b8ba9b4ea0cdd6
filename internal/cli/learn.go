package cli

import (
	"context"

	"strandline/internal/app"
	"strandline/internal/app/maintenance"
	"strandline/internal/archive"
	"strandline/internal/compact"
)

// learned puts what was learned into a request. As of a line that is what was
// known then.
func (a *commands) learned(ctx context.Context, x app.Archive, req *compact.Request) (err error) {
	taught, _ := maintenance.Learned{Path: x.Config.Paths.Learned()}.Read()
	if req.AtLine > 0 {
		now := req.Now
		before, err := x.Index.Steps(ctx, archive.Span{Session: req.Session, BeforeLine: req.AtLine, Newest: true, Limit: 1})
		if err != nil {
			return err
		}
		if len(before) > 0 {
			now = before[0].Time
		}
		if taught, err = maintenance.TalliesAt(ctx, x.Journal, now); err != nil {
			return err
		}
	}
	l := compact.Learner{How: x.Config.Restore.Learn, Taught: func() map[string]archive.Tally { return taught }}
	req.Weights = l.Weights()
	return nil
}

// teacher tells a pass of upkeep what cuts teach.
type teacher struct {
	a *commands
	x app.Archive
}

// Synthetic implements lifecycle.Teacher.
func (t teacher) Synthetic(ctx context.Context, session string) (archive.Compaction, bool, error) {
	return compact.MadeUp(ctx, t.x.Index, session)
}

// Teach implements maintenance.Teacher.
func (t teacher) Teach(ctx context.Context, cut archive.Compaction) (map[string]archive.Tally, error) {
	return compact.Teach(ctx, t.x.Index, cut, compact.Request{Log: t.x.Capture.Conversation, Redact: t.x.Redact})
}
