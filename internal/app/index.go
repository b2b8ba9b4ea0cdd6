package app

import (
	"context"
	"errors"
	"time"

	"strandline/internal/archive"
	"strandline/internal/config"
	"strandline/internal/recall"
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
	PassageIndex
	JournalIndex
	LogIndex
	TierIndex
	VectorIndex
}

// Catalog lists sessions and projects.
type Catalog interface {
	Resolve(ctx context.Context, prefix string) (string, error)
	Session(ctx context.Context, id string) (archive.Session, error)
	Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error)
	Projects(ctx context.Context) ([]archive.ProjectSummary, error)
	Totals(ctx context.Context) (archive.Totals, error)
	Integrity(ctx context.Context) error
	Close() error
}

// Transcripts reads the rows of sessions.
type Transcripts interface {
	Turns(ctx context.Context, s archive.Span) ([]archive.Turn, error)
	Steps(ctx context.Context, s archive.Span) ([]archive.Step, error)
	Passages(ctx context.Context, s archive.PassageSpan) ([]archive.Passage, error)
	Calls(ctx context.Context, s archive.CallSpan) ([]archive.Call, error)
	Tasks(ctx context.Context, s archive.Span) ([]archive.TaskEvent, error)
	Compactions(ctx context.Context, s archive.Span) ([]archive.Compaction, error)
	Rewound(ctx context.Context, s archive.Span) ([]int, error)
	Files(ctx context.Context, s archive.Span) ([]archive.FileTouch, error)
	History(ctx context.Context, f archive.HistoryFilter) ([]archive.Touch, error)
}

// PassageIndex finds passages by words.
type PassageIndex interface {
	Search(ctx context.Context, q archive.Query) ([]archive.Hit, error)
	WordCounts(ctx context.Context, words []string) ([]int, error)
	WordsFrom(ctx context.Context, prefix string, limit int) ([]string, error)
}

// JournalIndex holds the facts of the journal.
type JournalIndex interface {
	ApplyJournal(ctx context.Context, entries []archive.JournalEntry, cursor []byte) error
	JournalCursor(ctx context.Context) ([]byte, error)
	Recorded(ctx context.Context, ids []string) (map[string]bool, error)
	Facts(ctx context.Context, session string, kind archive.JournalKind) ([]archive.JournalEntry, error)
	Injected(ctx context.Context, session string) ([]archive.Injection, error)
	HookSummaries(ctx context.Context, session string) ([]archive.HookSummary, error)
	Accesses(ctx context.Context, session string) ([]archive.Access, error)
	Feedback(ctx context.Context) (archive.Feedback, error)
}

// LogIndex takes the rows that are read from session logs.
type LogIndex interface {
	Apply(ctx context.Context, b archive.Batch) error
	ApplyAll(ctx context.Context, bs []archive.Batch) error
	Cursor(ctx context.Context, session string) (archive.Cursor, error)
	Known(ctx context.Context, keys []uint64) (map[uint64]archive.Ref, error)
	Retire(ctx context.Context, session string, generation int) error
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
	Unembedded(ctx context.Context, embedder string, dim, limit int) (archive.Unembedded, error)
	Embedded(ctx context.Context) (part, of int64, err error)
	PutVectors(ctx context.Context, embedder string, dim int, work archive.Unembedded, rows []archive.VectorRow) error
	DropVectors(ctx context.Context, embedder string) error
	VectorSets(ctx context.Context) ([]archive.VectorSet, error)
	Vectors(ctx context.Context, embedder string, dim int, after int64, limit int, row func(archive.VectorRow) error) error
	VectorsOf(ctx context.Context, embedder string, dim int, passages []int64) (map[int64]archive.VectorRow, error)
	VectorScope(ctx context.Context, q archive.Query) (keep func(passage int64) bool, err error)
	HitsOf(ctx context.Context, q archive.Query, passages []int64) ([]archive.Hit, error)
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
	Close() error
}

// TeamAddress is where the team's archive is, and who connects.
type TeamAddress struct {
	Postgres        config.Postgres
	Password        string // "": PGPASSWORD or ~/.pgpass
	Author, Machine string
	Write           bool
}
