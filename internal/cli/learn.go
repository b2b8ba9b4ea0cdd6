package cli

import (
	"context"
	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/compact"
)

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
