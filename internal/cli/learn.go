package cli

import (
	"context"

	"strandline/internal/app/maintenance"
	"strandline/internal/archive"
	"strandline/internal/compact"
)

// learned puts what was learned into a request. As of a line that is what was
// known then.
func (a *app) learned(ctx context.Context, x indexed, req *compact.Request) (err error) {
	taught, _ := maintenance.Learned{Path: x.cfg.Paths.Learned()}.Read()
	if req.AtLine > 0 {
		before, err := x.store.Steps(ctx, archive.Span{Session: req.Session, BeforeLine: req.AtLine, Newest: true, Limit: 1})
		if err != nil {
			return err
		}
		now := req.Now
		if len(before) > 0 {
			now = before[0].Time
		}
		if taught, err = maintenance.TalliesAt(ctx, x.journal, now); err != nil {
			return err
		}
	}
	l := compact.Learner{How: x.cfg.Restore.Learn, Taught: func() map[string]archive.Tally { return taught }}
	req.Weights = l.Weights()
	return nil
}

// teacher tells a pass of upkeep what cuts teach.
type teacher struct {
	a *app
	x indexed
}

// Synthetic implements lifecycle.Teacher.
func (t teacher) Synthetic(ctx context.Context, session string) (archive.Compaction, bool, error) {
	return compact.MadeUp(ctx, t.x.store, session)
}

// Teach implements lifecycle.Teacher.
func (t teacher) Teach(ctx context.Context, cut archive.Compaction) (map[string]archive.Tally, error) {
	return compact.Teach(ctx, t.x.store, cut, compact.Request{Log: t.x.capture.Conversation, Redact: t.a.env.Redact(t.x.cfg)})
}
