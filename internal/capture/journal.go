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

// Journal keeps facts that stand in no transcript: appended to the journal
// first, then to the index, like everything else.
type Journal struct {
	Log    sessionlog.Journal
	Redact func(string) string
	Now    func() time.Time
}

// Fact is one thing to record; Data is the type that belongs to Kind.
type Fact struct {
	Kind    archive.JournalKind
	Session string
	Data    any
	// ID is the entry's identity where the fact has one of its own: recorded
	// twice it counts once. Empty for a random one.
	ID string
}

// Record appends one fact.
func (j Journal) Record(ctx context.Context, kind archive.JournalKind, session string, data any) error {
	return j.RecordAll(ctx, Fact{Kind: kind, Session: session, Data: data})
}

// RecordAccess records that places were given to the model because it looked for
// them: they stay in memory longer. session is the one that it works in.
func (j Journal) RecordAccess(ctx context.Context, session string, refs []archive.Ref) error {
	if len(refs) == 0 {
		return nil
	}
	return j.Record(ctx, archive.JournalAccess, session, archive.AccessFact{Refs: refs, How: archive.AccessRecalled})
}

// RecordAll appends facts that belong together, all or none. Replaying the
// journal recognises them by their ids.
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
			if _, err := rand.Read(random[:]); err != nil {
				return fmt.Errorf("make journal id: %w", err)
			}
			id = hex.EncodeToString(random[:])
		}
		entries[i] = archive.JournalEntry{
			Version: 1, ID: id, Time: j.Now().UTC(), Kind: f.Kind, Session: f.Session, Data: raw,
		}
	}
	return j.Log.Append(ctx, entries...)
}

// Sync applies what the index has not seen of the journal.
func (j Journal) Sync(ctx context.Context, idx Index) error {
	state, err := idx.JournalCursor(ctx)
	if err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	var cursor sessionlog.JournalCursor
	if len(state) > 0 {
		if err := json.Unmarshal(state, &cursor); err != nil {
			cursor = sessionlog.JournalCursor{} // entries are known by their ids: reading again is harmless
		}
	}
	entries, next, err := j.Log.Read(ctx, cursor)
	if err != nil {
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
	if state, err = json.Marshal(next); err != nil {
		return fmt.Errorf("encode journal cursor: %w", err)
	}
	if err := idx.ApplyJournal(ctx, entries, state); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	return nil
}

// redact removes secrets from the texts that an index shows; the journal keeps
// them as they came.
func (j Journal) redact(e archive.JournalEntry) (archive.JournalEntry, error) {
	switch e.Kind {
	case archive.JournalSummary:
		return rewrite(e, func(f *archive.SummaryFact) { f.Text = j.Redact(f.Text) })
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

// rewrite changes an entry's data. Data of another shape stays as it is: the
// store passes over what it cannot read.
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
