package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// ApplyJournal stores facts that stand in no transcript, and how far the journal
// was read; a nil cursor leaves the one that is stored. An entry whose ID is
// known changes nothing, and entries may come in any order, before or after the
// sessions that they speak of: the rows are the same.
//
// Texts of summaries have to be redacted already. Entries of unknown kinds, or
// with data that cannot be read, are kept and have no effect.
func (s *Store) ApplyJournal(ctx context.Context, entries []archive.JournalEntry, cursor []byte) error {
	return s.write(ctx, "store the journal", func(ctx context.Context, tx pgx.Tx) error {
		segments := map[string][]string{} // those that something happened to, by session
		for i := range entries {
			if err := applyEntry(ctx, tx, &entries[i], segments); err != nil {
				return fmt.Errorf("journal entry %s: %w", entries[i].ID, err)
			}
		}
		for _, session := range slices.Sorted(maps.Keys(segments)) {
			if err := indexSegments(ctx, tx, session, segments[session]); err != nil {
				return err
			}
		}
		if cursor == nil {
			return nil
		}
		_, err := exec(ctx, tx, "INSERT INTO meta (name, value) VALUES ('journal', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value", cursor)
		return err
	})
}

// JournalCursor returns the cursor that ApplyJournal stored last, nil before the
// first.
func (s *Store) JournalCursor(ctx context.Context) (cursor []byte, err error) {
	err = s.read(ctx, "read the journal's cursor", func(ctx context.Context, tx pgx.Tx) error {
		_, err := queryRow(ctx, tx, "SELECT value FROM meta WHERE name = 'journal'", nil, &cursor)
		return err
	})
	return cursor, err
}

// Injected returns what was put into a session's context, in the order of time.
// Facts that cannot be read are left out. Hooks know no generations: what they
// tell belongs to the transcript that bears the session's name now.
func (s *Store) Injected(ctx context.Context, session string) (out []archive.Injection, err error) {
	err = s.read(ctx, "read what was injected", func(ctx context.Context, tx pgx.Tx) error {
		const sql = "SELECT id, time, data FROM journal WHERE session_id = $1 AND kind = $2 ORDER BY time, id"
		return query(ctx, tx, sql, []any{session, string(archive.JournalInjected)}, func(scan scanFunc) error {
			x := archive.Injection{Session: session}
			var at int64
			var data string
			if err := scan(&x.ID, &at, &data); err != nil {
				return err
			}
			x.Time = index.Instant(at)
			if json.Unmarshal([]byte(data), &x.InjectedFact) == nil {
				out = append(out, x)
			}
			return nil
		})
	})
	return out, err
}

// Facts returns the journal's entries of one kind in the order of time, those of
// one session or, where it is empty, all. Summaries are no facts: see
// HookSummaries.
func (s *Store) Facts(ctx context.Context, session string, kind archive.JournalKind) (out []archive.JournalEntry, err error) {
	err = s.read(ctx, "read the journal's facts", func(ctx context.Context, tx pgx.Tx) error {
		out, err = facts(ctx, tx, index.BaseID(session), kind)
		return err
	})
	return out, err
}

func facts(ctx context.Context, tx pgx.Tx, base string, kind archive.JournalKind) (out []archive.JournalEntry, err error) {
	const sql = "SELECT id, session_id, time, data FROM journal WHERE ($1 = '' OR session_id = $1) AND kind = $2 ORDER BY time, id"
	err = query(ctx, tx, sql, []any{base, string(kind)}, func(scan scanFunc) error {
		e := archive.JournalEntry{Version: 1, Kind: kind}
		var at int64
		var data string
		err := scan(&e.ID, &e.Session, &at, &data)
		e.Time, e.Data = index.Instant(at), json.RawMessage(data)
		out = append(out, e)
		return err
	})
	return out, err
}

// applyEntry stores an entry and what follows from it, but for the passages of
// segments, which it adds to segments.
func applyEntry(ctx context.Context, tx pgx.Tx, e *archive.JournalEntry, segments map[string][]string) error {
	if e.Kind == archive.JournalSummary && index.ValidID(e.Session) {
		var fact archive.SummaryFact
		if json.Unmarshal(e.Data, &fact) == nil {
			return applySummary(ctx, tx, e, fact)
		}
	}
	fresh, err := exec(ctx, tx, "INSERT INTO journal (id, kind, session_id, time, data) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING",
		clean(e.ID), clean(string(e.Kind)), clean(e.Session), index.Nanos(e.Time), clean(string(e.Data)))
	if err != nil || fresh == 0 {
		return err
	}
	switch e.Kind {
	case archive.JournalMerge:
		var fact archive.MergeFact
		if json.Unmarshal(e.Data, &fact) == nil && fact.From != "" && fact.From != fact.Into {
			return applyMerge(ctx, tx, e, fact)
		}
	case archive.JournalSegment:
		var fact archive.SegmentFact
		if json.Unmarshal(e.Data, &fact) == nil && fact.Segment.ID != "" && index.ValidID(e.Session) && fact.Event != archive.SegmentRead {
			base := index.BaseID(e.Session)
			if !slices.Contains(segments[base], fact.Segment.ID) {
				segments[base] = append(segments[base], fact.Segment.ID)
			}
		}
	case archive.JournalAccess:
		var fact archive.AccessFact
		if json.Unmarshal(e.Data, &fact) == nil {
			return applyAccess(ctx, tx, e, fact)
		}
	}
	return nil
}

func applyMerge(ctx context.Context, tx pgx.Tx, e *archive.JournalEntry, fact archive.MergeFact) error {
	_, err := exec(ctx, tx, "INSERT INTO aliases AS a (old, target, time, id) VALUES ($1, $2, $3, $4) ON CONFLICT (old) DO UPDATE SET "+
		"target = excluded.target, time = excluded.time, id = excluded.id WHERE (excluded.time, excluded.id) > (a.time, a.id)",
		clean(fact.From), clean(fact.Into), index.Nanos(e.Time), clean(e.ID))
	return err
}
