package httpapi

import (
	"context"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
)

// Archive is the archive that the API serves. Its parts are usually one *app.App.
// Sessions are named by a handle or an id; an unknown one is an *archive.Error.
// Several goroutines call the methods.
type Archive struct {
	Catalog
	Content
	Contexts
	Records // only for a server with Options.Compat
}

// Catalog lists sessions and totals.
type Catalog interface {
	Projects(ctx context.Context) ([]app.Project, error)
	Sessions(ctx context.Context, q app.SessionsQuery) ([]app.Session, error)
	Running(ctx context.Context) ([]app.Running, error)
	// Recent returns the recently active sessions, sub-agents included, or the named
	// one.
	Recent(ctx context.Context, session string) ([]app.Session, error)
	Compactions(ctx context.Context, q app.CompactionsQuery) ([]app.Compaction, error)
	// Stats counts what happened in a session, a project or the archive.
	Stats(ctx context.Context, q app.StatsQuery) (app.Stats, error)
	// Compaction returns the account of a session's compaction; index counts from 0.
	Compaction(ctx context.Context, session string, index int) (app.CompactionAccount, error)
	// Digests returns what sessions did. Unknown sessions are left out.
	Digests(ctx context.Context, sessions []string) ([]app.Digest, error)
	Status(ctx context.Context) (app.Status, error)
	// Stamp changes with every write to the index. It only reads file attributes.
	Stamp() string
}

// Content reads what sessions hold.
type Content interface {
	Outline(ctx context.Context, session string) (app.Outline, error)
	// Turns returns limit turns from a turn on, negative: the last ones.
	Turns(ctx context.Context, session string, from, limit int) (app.TurnPage, error)
	Curve(ctx context.Context, session string) (app.Curve, error)
	// Image returns picture n of a line of a transcript.
	Image(ctx context.Context, session string, line, n int) (app.Image, error)
	// Place returns a turn or a step.
	Place(ctx context.Context, at archive.Handle) (app.Place, error)
	Search(ctx context.Context, q app.SearchQuery) (recall.Result, error)
	Timeline(ctx context.Context, session string) (app.Timeline, error)
	Tasks(ctx context.Context, session string, open bool) ([]app.TaskTree, error)
	Segments(ctx context.Context, q app.SegmentsQuery) ([]app.Segment, error)
	SessionFiles(ctx context.Context, session string, limit int) ([]app.File, error)
	// FileHistory returns the history of a file, oldest first, and the number of
	// omitted older entries.
	FileHistory(ctx context.Context, q app.FilesQuery) (app.FileHistory, error)
	// Transcript opens a generation of a transcript; 0 is the latest.
	Transcript(ctx context.Context, session string, generation int) (app.Transcript, error)
}

// Contexts makes texts for a context window and stores snapshots.
type Contexts interface {
	Restore(ctx context.Context, q app.ContextQuery) (app.Context, error)
	Preserve(ctx context.Context, q app.ContextQuery) (app.Context, error)
	SaveSnapshot(ctx context.Context, d app.SnapshotDraft) (app.Snapshot, error)
	// Snapshots returns a session's snapshots, or all for "", newest first.
	Snapshots(ctx context.Context, session string) ([]app.SnapshotLine, error)
	Snapshot(ctx context.Context, q app.SnapshotQuery) (app.Snapshot, error)
	SnapshotBrief(ctx context.Context, q app.SnapshotQuery, role string, budget int) (app.SnapshotBrief, error)
}
