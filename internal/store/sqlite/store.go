// Package sqlite keeps the archive's index in one SQLite file.
package sqlite

import (
	"context"
	"io"
	"time"

	"strandline/internal/archive"
)

// Options adjusts Open.
type Options struct {
	ReadOnly    bool
	BusyTimeout time.Duration // 0 means 5 seconds
	Bulk        bool          // tuned for imports: larger cache, merges deferred
	Now         func() time.Time
}

// Store is an open index.
type Store struct{}

// Open opens or creates the index at path.
func Open(ctx context.Context, path string, opt Options) (*Store, error) { return &Store{}, nil }

// Close closes the index.
func (s *Store) Close() error { return nil }

// Known returns the owners of those keys that are known.
func (s *Store) Known(ctx context.Context, keys []uint64) (map[uint64]archive.Ref, error) {
	return nil, nil
}

// Apply stores a batch.
func (s *Store) Apply(ctx context.Context, b archive.Batch) error { return nil }

// ApplyAll stores several batches in one transaction.
func (s *Store) ApplyAll(ctx context.Context, bs []archive.Batch) error { return nil }

// Cursor says how far a session is indexed.
func (s *Store) Cursor(ctx context.Context, session string) (archive.Cursor, error) {
	return archive.Cursor{}, nil
}

// Retire renames a session's rows.
func (s *Store) Retire(ctx context.Context, session string, generation int) error { return nil }

// ApplyJournal stores journal entries.
func (s *Store) ApplyJournal(ctx context.Context, entries []archive.JournalEntry, cursor []byte) error {
	return nil
}

// JournalCursor returns the cursor that came with the last ApplyJournal.
func (s *Store) JournalCursor(ctx context.Context) ([]byte, error) { return nil, nil }

// Sessions lists sessions.
func (s *Store) Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error) {
	return nil, nil
}

// Session returns one session.
func (s *Store) Session(ctx context.Context, id string) (archive.Session, error) {
	return archive.Session{}, nil
}

// Resolve finds the session id that a handle's session part stands for.
func (s *Store) Resolve(ctx context.Context, prefix string) (string, error) { return "", nil }

// Turns lists turns.
func (s *Store) Turns(ctx context.Context, sp archive.Span) ([]archive.Turn, error) { return nil, nil }

// Steps lists steps.
func (s *Store) Steps(ctx context.Context, sp archive.Span) ([]archive.Step, error) { return nil, nil }

// Calls lists calls.
func (s *Store) Calls(ctx context.Context, sp archive.CallSpan) ([]archive.Call, error) {
	return nil, nil
}

// Passages lists passages.
func (s *Store) Passages(ctx context.Context, sp archive.PassageSpan) ([]archive.Passage, error) {
	return nil, nil
}

// Files lists touched files.
func (s *Store) Files(ctx context.Context, sp archive.Span) ([]archive.FileTouch, error) {
	return nil, nil
}

// Tasks lists task events.
func (s *Store) Tasks(ctx context.Context, sp archive.Span) ([]archive.TaskEvent, error) {
	return nil, nil
}

// Compactions lists compactions.
func (s *Store) Compactions(ctx context.Context, sp archive.Span) ([]archive.Compaction, error) {
	return nil, nil
}

// HookSummaries lists pending summaries.
func (s *Store) HookSummaries(ctx context.Context, session string) ([]archive.HookSummary, error) {
	return nil, nil
}

// Search finds passages.
func (s *Store) Search(ctx context.Context, q archive.Query) ([]archive.Hit, error) { return nil, nil }

// Totals describes the archive.
func (s *Store) Totals(ctx context.Context) (archive.Totals, error) { return archive.Totals{}, nil }

// Projects lists projects.
func (s *Store) Projects(ctx context.Context) ([]archive.ProjectSummary, error) { return nil, nil }

// Integrity checks the file and the full-text index.
func (s *Store) Integrity(ctx context.Context) error { return nil }

// Dump writes all rows by natural keys.
func (s *Store) Dump(ctx context.Context, w io.Writer) error { return nil }
