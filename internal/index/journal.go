package index

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"strandline/internal/archive"
)

// ApplyJournal stores facts that are in no transcript, and how far the journal was
// read; a nil cursor leaves the stored one. An entry whose ID is known changes
// nothing. Entries may arrive in any order, before or after the sessions they
// refer to: the rows are the same.
//
// Texts of summaries must be redacted already. Entries of unknown kinds, or with
// data that cannot be read, are stored and have no effect.
func (s *Store) ApplyJournal(ctx context.Context, entries []archive.JournalEntry, cursor []byte) error {
	return s.write(ctx, "store the journal", func(ctx context.Context, tx Tx) error {
		segments := map[string][]string{} // IDs of changed segments, by session
		snapshots := map[string]bool{}    // sessions with new snapshots
		for i := range entries {
			if entries[i].Kind == archive.JournalSnapshot && ValidID(entries[i].Session) {
				snapshots[BaseID(entries[i].Session)] = true
			}
			if err := applyEntry(ctx, tx, &entries[i], segments, s.sql.Join); err != nil {
				return fmt.Errorf("journal entry %s: %w", entries[i].ID, err)
			}
		}
		for _, session := range slices.Sorted(maps.Keys(segments)) {
			no, err := SessionNumber(ctx, tx, session)
			if err == nil {
				err = indexSegments(ctx, tx, no, session, segments[session])
			}
			if err != nil {
				return err
			}
		}
		for _, session := range slices.Sorted(maps.Keys(snapshots)) {
			if err := indexSnapshot(ctx, tx, session); err != nil {
				return err
			}
		}
		if cursor == nil {
			return nil
		}
		_, err := tx.Exec(ctx, "INSERT INTO meta (name, value) VALUES ('journal', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", cursor)
		return err
	})
}

// applyEntry stores an entry and the rows derived from it, except the passages of
// segments: it adds those segments to segments.
func applyEntry(ctx context.Context, tx Tx, e *archive.JournalEntry, segments map[string][]string, join string) error {
	if e.Kind == archive.JournalSummary && ValidID(e.Session) {
		if fact, ok := archive.FactOf[archive.SummaryFact](e); ok {
			return applySummary(ctx, tx, e, fact, join)
		}
	}
	added, err := tx.Exec(ctx, "INSERT INTO journal (id, kind, session_id, time, data) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
		e.ID, string(e.Kind), e.Session, Nanos(e.Time), string(e.Data))
	if err != nil || added == 0 {
		return err
	}
	switch e.Kind {
	case archive.JournalMerge:
		if fact, ok := archive.FactOf[archive.MergeFact](e); ok && fact.From != "" {
			_, err := tx.Exec(ctx, "INSERT INTO aliases AS a (old, target, time, id) VALUES (?, ?, ?, ?) ON CONFLICT (old) DO UPDATE SET "+
				"target = excluded.target, time = excluded.time, id = excluded.id WHERE (excluded.time, excluded.id) > (a.time, a.id)",
				fact.From, fact.Into, Nanos(e.Time), e.ID)
			return err
		}
	case archive.JournalSegment:
		if fact, ok := archive.FactOf[archive.SegmentFact](e); ok && fact.Segment.ID != "" && ValidID(e.Session) && fact.Event != archive.SegmentRead {
			base := BaseID(e.Session)
			if !slices.Contains(segments[base], fact.Segment.ID) {
				segments[base] = append(segments[base], fact.Segment.ID)
			}
		}
	case archive.JournalAccess:
		if fact, ok := archive.FactOf[archive.AccessFact](e); ok {
			table := Table{Name: "accesses", Columns: "session_id, turn, step, time, id, how", Key: 5, Keep: true}
			return tx.Put(ctx, table, rowsOf(fact.Refs, func(ref *archive.Ref) []any {
				return []any{ref.Session, ref.Turn, ref.Step, Nanos(e.Time), e.ID, fact.How}
			}))
		}
	}
	return nil
}

// JournalCursor returns the cursor that ApplyJournal stored last, nil before the
// first.
func (s *Store) JournalCursor(ctx context.Context) ([]byte, error) {
	return Read(ctx, s.read, "read the journal's cursor", func(ctx context.Context, tx Tx) ([]byte, error) {
		return Value[[]byte](ctx, tx, "SELECT value FROM meta WHERE name = 'journal'")
	})
}

// Injected returns the texts that were injected into a session's context, ordered
// by time. Facts that cannot be read are left out. Hooks know no generations: their
// facts belong to the transcript that has the session's name now.
func (s *Store) Injected(ctx context.Context, session string) (out []archive.Injection, err error) {
	entries, err := s.entries(ctx, "read injected texts", session, archive.JournalInjected)
	for _, e := range entries {
		if fact, ok := archive.FactOf[archive.InjectedFact](&e); ok {
			out = append(out, archive.Injection{ID: e.ID, Session: session, Time: e.Time, InjectedFact: fact})
		}
	}
	return out, err
}

// Facts returns the journal's entries of one kind, ordered by time: those of one
// session or, if it is empty, all. For summaries see HookSummaries.
func (s *Store) Facts(ctx context.Context, session string, kind archive.JournalKind) ([]archive.JournalEntry, error) {
	return s.entries(ctx, "read journal entries", BaseID(session), kind)
}

func (s *Store) entries(ctx context.Context, what, session string, kind archive.JournalKind) ([]archive.JournalEntry, error) {
	return Read(ctx, s.read, what, func(ctx context.Context, tx Tx) ([]archive.JournalEntry, error) {
		return journalEntries(ctx, tx, session, kind)
	})
}

func journalEntries(ctx context.Context, tx Tx, session string, kind archive.JournalKind) ([]archive.JournalEntry, error) {
	where, args := "kind = ?", []any{string(kind)}
	if session != "" {
		where, args = "session_id = ? AND kind = ?", []any{session, string(kind)}
	}
	query := "SELECT id, session_id, time, data FROM journal WHERE " + where + " ORDER BY time, id"
	return Rows(ctx, tx, query, args, func(scan Scan) (archive.JournalEntry, error) {
		e := archive.JournalEntry{Version: 1, Kind: kind}
		err := scan(&e.ID, &e.Session, asTime(&e.Time), (*[]byte)(&e.Data))
		return e, err
	})
}

// Accesses returns when places of a session were injected or used, ordered by
// place and then by time.
func (s *Store) Accesses(ctx context.Context, session string) ([]archive.Access, error) {
	const query = "SELECT turn, step, time, how FROM accesses WHERE session_id = ? ORDER BY turn, step, time, id"
	return readRows(ctx, s, "read accesses", query, []any{session}, func(scan Scan) (archive.Access, error) {
		x := archive.Access{Ref: archive.Ref{Session: session}}
		err := scan(&x.Turn, &x.Step, asTime(&x.Time), &x.How)
		return x, err
	})
}

// Recorded returns those of the journal entry IDs that the index holds.
func (s *Store) Recorded(ctx context.Context, ids []string) (map[string]bool, error) {
	known := map[string]bool{}
	err := s.read(ctx, "look up journal entries", func(ctx context.Context, tx Tx) error {
		return inChunks(s, ids, func(in string, args []any) error {
			return AddColumn(ctx, tx, known, "SELECT id FROM journal WHERE id"+in, args...)
		})
	})
	return known, err
}

// Feedback counts the places that compactions restored and those that were used
// afterwards, over all compactions that were measured.
func (s *Store) Feedback(ctx context.Context) (sum archive.Feedback, err error) {
	entries, err := s.entries(ctx, "read the use of restored places", "", archive.JournalAccess)
	for _, e := range entries {
		// Unreadable entries have no effect.
		if fact, ok := archive.FactOf[archive.AccessFact](&e); ok && fact.How == archive.AccessUsed && fact.Of > 0 {
			sum.Compactions++
			sum.Given += fact.Of
			sum.Used += min(len(fact.Refs), fact.Of)
		}
	}
	return sum, err
}
