package capture

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

// Journal records facts that are in no transcript: in the journal first, in the index
// afterwards.
type Journal struct {
	Log    sessionlog.Journal
	Redact func(string) string
	Now    func() time.Time
}

// Fact is a fact to record. The type of Data depends on Kind.
type Fact struct {
	Kind    archive.JournalKind
	Session string
	Data    any
	// ID identifies the entry: a fact with the same ID counts once. Empty: a random
	// ID.
	ID string
}

// Record appends one fact.
func (j Journal) Record(ctx context.Context, kind archive.JournalKind, session string, data any) error {
	return j.RecordAll(ctx, Fact{Kind: kind, Session: session, Data: data})
}

// RecordAccess records that turns or steps were returned to the model's queries in a
// session, which raises their importance.
func (j Journal) RecordAccess(ctx context.Context, session string, refs []archive.Ref) error {
	if len(refs) == 0 {
		return nil
	}
	return j.Record(ctx, archive.JournalAccess, session, archive.AccessFact{Refs: refs, How: archive.AccessRecalled})
}

// RecordAll appends facts, all or none.
func (j Journal) RecordAll(ctx context.Context, facts ...Fact) error {
	entries := make([]archive.JournalEntry, len(facts))
	for i, f := range facts {
		raw, err := json.Marshal(f.Data)
		if err != nil {
			return fmt.Errorf("encode journal entry: %w", err)
		}
		id := f.ID
		if id == "" {
			var random [12]byte
			_, _ = rand.Read(random[:]) // never fails
			id = hex.EncodeToString(random[:])
		}
		entries[i] = archive.JournalEntry{Version: 1, ID: id, Time: j.Now().UTC(), Kind: f.Kind, Session: f.Session, Data: raw}
	}
	return j.Log.Append(ctx, entries...)
}

// All returns all readable entries.
func (j Journal) All(ctx context.Context) ([]archive.JournalEntry, error) {
	entries, _, err := j.Log.Read(ctx, sessionlog.JournalCursor{})
	if archive.ErrorCode(err) == archive.CodeCorrupt {
		err = nil // sessionlog.Journal.Verify reports it
	}
	return entries, err
}

// Sync applies the new entries of the journal to the index. It leaves out damaged entries,
// which sessionlog.Journal.Verify reports.
func (j Journal) Sync(ctx context.Context, idx Index) error {
	cursor, err := j.cursor(ctx, idx)
	if err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	entries, next, err := j.Log.Read(ctx, cursor)
	if err != nil && archive.ErrorCode(err) != archive.CodeCorrupt { // the readable months are applied
		return fmt.Errorf("sync journal: %w", err)
	}
	if len(entries) == 0 {
		return nil
	}
	for i := range entries {
		if entries[i], err = j.redact(entries[i]); err != nil {
			return err
		}
	}
	state, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("encode journal cursor: %w", err)
	}
	if err := idx.ApplyJournal(ctx, entries, state); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	return nil
}

// Indexed returns how many bytes of each of the journal's logs the index has, by path.
func (j Journal) Indexed(ctx context.Context, idx Index) (map[string]int64, error) {
	cursor, err := j.cursor(ctx, idx)
	return j.Log.Had(cursor), err
}

// cursor returns the position up to which the index has the journal.
func (j Journal) cursor(ctx context.Context, idx Index) (cursor sessionlog.JournalCursor, err error) {
	state, err := idx.JournalCursor(ctx)
	if err == nil && len(state) > 0 && json.Unmarshal(state, &cursor) != nil {
		cursor = sessionlog.JournalCursor{} // start over: entries are applied once per ID
	}
	return cursor, err
}

// redact removes secrets from the texts that the index stores. The journal keeps
// them.
func (j Journal) redact(e archive.JournalEntry) (archive.JournalEntry, error) {
	if e.Kind.IsRecord() {
		return rewrite(e, func(f *archive.RecordFact) { archive.ChangeTexts(f.Fields, j.Redact) })
	}
	switch e.Kind {
	case archive.JournalSummary:
		return rewrite(e, func(f *archive.SummaryFact) { f.Text = j.Redact(f.Text) })
	case archive.JournalNote:
		return rewrite(e, func(f *archive.NoteFact) { f.Text = j.Redact(f.Text) })
	case archive.JournalTask:
		return rewrite(e, func(f *archive.TaskFact) { f.Subject, f.Description = j.Redact(f.Subject), j.Redact(f.Description) })
	case archive.JournalSnapshot:
		return rewrite(e, func(f *archive.SnapshotFact) { f.EachText(j.Redact) })
	case archive.JournalSegment:
		return rewrite(e, func(f *archive.SegmentFact) {
			f.Segment.Topic, f.Segment.Content = j.Redact(f.Segment.Topic), j.Redact(f.Segment.Content)
			for i, d := range f.Segment.KeyDecisions {
				f.Segment.KeyDecisions[i] = j.Redact(d)
			}
		})
	}
	return e, nil
}

// rewrite changes an entry's data. It leaves data of another type, which the store
// ignores.
func rewrite[F any](e archive.JournalEntry, change func(*F)) (archive.JournalEntry, error) {
	var f F
	if json.Unmarshal(e.Data, &f) != nil {
		return e, nil //nolint:nilerr // see the function's comment
	}
	change(&f)
	raw, err := json.Marshal(f)
	if err != nil {
		return e, fmt.Errorf("encode journal entry: %w", err)
	}
	e.Data = raw
	return e, nil
}
