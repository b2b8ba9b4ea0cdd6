package app

import (
	"context"
	"errors"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/config"
	"strandline/internal/embed"
	"strandline/internal/recall"
	"strandline/internal/task"
)

// Mode is how an index is opened.
type Mode int

// The modes.
const (
	ReadOnly Mode = iota
	ReadWrite
	BulkWrite // tuned for an import
	// FastWrite is ReadWrite without syncing the journal first, for calls with a
	// deadline.
	FastWrite
)

// Index is an open index. The parts are usually one store.
type Index struct {
	Catalog
	Transcripts
	FileIndex
	PassageIndex
	JournalIndex
	LogIndex
	TierIndex
	VectorIndex
}

// Catalog lists sessions and projects.
type Catalog interface {
	Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error)
	Projects(ctx context.Context) ([]archive.ProjectSummary, error)
	Totals(ctx context.Context) (archive.Totals, error)
	Activity(ctx context.Context, f archive.SessionFilter) ([]archive.Activity, error)
	ToolCalls(ctx context.Context, f archive.SessionFilter) ([]archive.ToolCalls, error)
	// Integrity fails with CodeCorrupt if the file is damaged or incomplete.
	Integrity(ctx context.Context) error
	// Rules returns the version of the redaction rules that the index was created with.
	Rules(ctx context.Context) (int, error)
	// Settle moves everything that was written into the index's main file.
	Settle(ctx context.Context) error
	Close() error
}

// Transcripts reads the rows of sessions.
type Transcripts = compact.Measured

// FileIndex finds what calls did with files.
type FileIndex interface {
	task.FileHistoryStore
	Files(ctx context.Context, s archive.Span) ([]archive.FileTouch, error)
}

// PassageIndex finds passages by words, and sessions by a prefix of their IDs.
type PassageIndex = recall.SearchStore

// JournalIndex holds the facts of the journal.
type JournalIndex interface {
	Recorded(ctx context.Context, ids []string) (map[string]bool, error)
	Feedback(ctx context.Context) (archive.Feedback, error)
	// Expire removes the entries of a kind that are older than a time.
	Expire(ctx context.Context, kind archive.JournalKind, before time.Time) error
}

// LogIndex takes the rows that are read from session logs and from the journal.
type LogIndex interface {
	capture.Index
	Positions(ctx context.Context) (map[string]archive.Cursor, error)
}

// TierIndex moves turns between the tiers.
type TierIndex interface {
	Cold(ctx context.Context) ([]archive.ColdTurn, error)
	Cool(ctx context.Context, before time.Time) (int, error)
	Warm(ctx context.Context, turn archive.ColdTurn, log []archive.Passage) error
	Warming(ctx context.Context, since time.Time) ([]archive.ColdTurn, error)
	Trim(ctx context.Context, turn archive.ColdTurn, log []archive.Passage) (int64, error)
	Vacuum(ctx context.Context) error
}

// VectorIndex stores the passages' vectors.
type VectorIndex interface {
	embed.VectorStore
	embed.VectorWriter
	Embedded(ctx context.Context) (part, of int64, err error)
	DropVectors(ctx context.Context, embedder string) error
}

// ErrNotLinked reports a feature that this program does not link. The companion
// program has it.
var ErrNotLinked = errors.New("this program does not link the feature")

// TeamStore is the team's archive.
type TeamStore struct {
	Remote Remote
	Index  TeamIndex
}

// TeamIndex searches the team's archive.
type TeamIndex interface {
	recall.SearchStore
	Projects(ctx context.Context) ([]archive.ProjectSummary, error)
	Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error)
	Close() error
}

// TeamAddress is where the team's archive is, and who connects.
type TeamAddress struct {
	Postgres        config.Postgres
	Password        string // "": PGPASSWORD or ~/.pgpass
	Author, Machine string
	Write           bool
}
