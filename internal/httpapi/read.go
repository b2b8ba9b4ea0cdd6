package httpapi

import (
	"context"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
)

// Archive is what the API reads. Sessions and places are named as a user types
// them; a name that fits nothing is an *archive.Error. It is used by several
// goroutines.
type Archive interface {
	Projects(ctx context.Context) ([]app.Project, error)
	Sessions(ctx context.Context, ask app.SessionsAsk) ([]app.Session, error)
	Running(ctx context.Context) ([]app.Running, error)
	Outline(ctx context.Context, session string) (app.Outline, error)
	// Place is the text of a turn or a step.
	Place(ctx context.Context, at archive.Handle) (app.Place, error)
	Search(ctx context.Context, ask app.SearchAsk) (recall.Result, error)
	Timeline(ctx context.Context, session string) (app.Timeline, error)
	Tasks(ctx context.Context, session string, open bool) ([]app.TaskTree, error)
	// Segments are those of a session, or all if it is "".
	Segments(ctx context.Context, session string, pending bool) ([]app.Segment, error)
	SessionFiles(ctx context.Context, session string) ([]app.File, error)
	// FileHistory is what was done to a file, oldest first, and how many older ones
	// were left out.
	FileHistory(ctx context.Context, ask app.FilesAsk) ([]app.Touch, int, error)
	// Compactions are those of a session, or the newest of all if it is "".
	Compactions(ctx context.Context, session string, limit int) ([]app.Compaction, error)
	Restore(ctx context.Context, ask app.ContextAsk) (app.Context, error)
	Preserve(ctx context.Context, ask app.ContextAsk) (app.Context, error)
	// Stats are the sums of a session, or of the archive if it is "".
	Stats(ctx context.Context, session string) (app.Stats, error)
	Status(ctx context.Context) (app.Status, error)
	// Transcript opens the exact bytes of a session's transcript; generation 0 is the
	// latest.
	Transcript(ctx context.Context, session string, generation int) (app.Transcript, error)
	// Stamp changes whenever something was written to the index. It costs next to
	// nothing.
	Stamp() string
	// Recent lists sessions that were heard of lately, or the one that is named, with
	// sub-agents' sessions.
	Recent(ctx context.Context, session string) ([]app.Session, error)

	SaveSnapshot(ctx context.Context, d app.SnapshotDraft) (app.Snapshot, error)
	// Snapshots lists those of a session, or all if it is "", newest first.
	Snapshots(ctx context.Context, session string) ([]app.SnapshotLine, error)
	Snapshot(ctx context.Context, ask app.SnapshotsAsk) (app.Snapshot, error)
	SnapshotBrief(ctx context.Context, ask app.SnapshotsAsk, role string, budget int) (app.SnapshotBrief, error)
}

// Parameters that several routes have.
func projectParam() param {
	return param{name: "project", says: "only this project: its name, or a part of its folder's path"}
}

func sinceParam() param {
	return param{name: "since", kind: isTime, says: "only what is newer: an age such as 7d or 12h, a day, or a time in RFC 3339"}
}

func limitParam(normal, most int) param {
	return param{name: "limit", kind: isNumber, least: 1, most: most, normal: normal, says: "at most this many"}
}

func cursorParam() param {
	return param{name: "cursor", kind: isCursor, says: "where to go on: next of the answer before"}
}

func agentsParam() param {
	return param{name: "agents", kind: isFlag, says: "sub-agents' runs as well"}
}
