// Package task knows what a session worked on: its tasks, the stretches of
// conversation that belong to them, which of those have gone cold, and what a
// short summary of one has to say.
//
// Where a session keeps a task list, a stretch is what lies between a task's
// start and its end. Elsewhere the conversation is cut into topics, by its
// prompts, the files it touches and the words it uses. Both are derived from the
// index. What was summarised when, and by whom, is a fact of the journal: the
// tiers L1 (in the client's context), L2 (summarised) and L3 (archived) are the
// fold of those facts.
//
// A moment is counted in steps, one per response of the model, because a session
// may be one prompt with hundreds of them.
package task

import (
	"context"

	"strandline/internal/archive"
)

// Source is what this package reads of a store.
type Source interface {
	Session(ctx context.Context, id string) (archive.Session, error)
	Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error)
	Turns(ctx context.Context, s archive.Span) ([]archive.Turn, error)
	Steps(ctx context.Context, s archive.Span) ([]archive.Step, error)
	Calls(ctx context.Context, s archive.CallSpan) ([]archive.Call, error)
	Passages(ctx context.Context, s archive.PassageSpan) ([]archive.Passage, error)
	Tasks(ctx context.Context, s archive.Span) ([]archive.TaskEvent, error)
	Compactions(ctx context.Context, s archive.Span) ([]archive.Compaction, error)
	// Facts returns the journal's entries of one kind that belong to a session,
	// in the order of time; an empty session means all of them.
	Facts(ctx context.Context, session string, kind archive.JournalKind) ([]archive.JournalEntry, error)
}
