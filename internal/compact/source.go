package compact

import (
	"context"

	"strandline/internal/archive"
)

// Source is what this package reads of a store. Every question it asks is
// bounded by a limit.
type Source interface {
	Session(ctx context.Context, id string) (archive.Session, error)
	Turns(ctx context.Context, s archive.Span) ([]archive.Turn, error)
	// Rewound returns the dead turns of a span that have a live one behind them.
	Rewound(ctx context.Context, s archive.Span) ([]int, error)
	Steps(ctx context.Context, s archive.Span) ([]archive.Step, error)
	Calls(ctx context.Context, s archive.CallSpan) ([]archive.Call, error)
	Passages(ctx context.Context, s archive.PassageSpan) ([]archive.Passage, error)
	Tasks(ctx context.Context, s archive.Span) ([]archive.TaskEvent, error)
	Compactions(ctx context.Context, s archive.Span) ([]archive.Compaction, error)
	HookSummaries(ctx context.Context, session string) ([]archive.HookSummary, error)
}
