package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

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
	return s.write(ctx, "index the journal", func(ctx context.Context) error {
		segments := map[string][]string{} // those that something happened to, by session
		for i := range entries {
			if err := s.applyEntry(ctx, &entries[i], segments); err != nil {
				return fmt.Errorf("journal entry %s: %w", entries[i].ID, err)
			}
		}
		for _, session := range slices.Sorted(maps.Keys(segments)) {
			if err := s.indexSegments(ctx, session, segments[session]); err != nil {
				return err
			}
		}
		if cursor == nil {
			return nil
		}
		_, err := s.exec(ctx, "INSERT INTO meta (name, value) VALUES ('journal', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", cursor)
		return err
	})
}

// JournalCursor returns the cursor that ApplyJournal stored last, nil before the
// first.
func (s *Store) JournalCursor(ctx context.Context) (cursor []byte, err error) {
	err = s.read(ctx, "read the journal's cursor", func(ctx context.Context) error {
		_, err := s.queryRow(ctx, "SELECT value FROM meta WHERE name = 'journal'", nil, &cursor)
		return err
	})
	return cursor, err
}

// Injected returns what was put into a session's context, in the order of time.
// Facts that cannot be read are left out. Hooks know no generations: what they
// tell belongs to the transcript that bears the session's name now.
func (s *Store) Injected(ctx context.Context, session string) (out []archive.Injection, err error) {
	const query = "SELECT id, time, data FROM journal WHERE session_id = ? AND kind = ? ORDER BY time, id"
	args := []any{session, string(archive.JournalInjected)}
	err = s.read(ctx, "read what was injected", func(ctx context.Context) error {
		return s.query(ctx, query, args, func(scan scanFunc) error {
			x := archive.Injection{Session: session}
			var at int64
			var data []byte
			if err := scan(&x.ID, &at, &data); err != nil {
				return err
			}
			x.Time = index.Instant(at)
			if json.Unmarshal(data, &x.InjectedFact) == nil {
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
	err = s.read(ctx, "read the journal's facts", func(ctx context.Context) error {
		out, err = s.facts(ctx, index.BaseID(session), kind)
		return err
	})
	return out, err
}

const (
	factsQuery    = "SELECT id, session_id, time, data FROM journal WHERE session_id = ? AND kind = ? ORDER BY time, id"
	allFactsQuery = "SELECT id, session_id, time, data FROM journal WHERE kind = ? ORDER BY time, id"
)

func (s *Store) facts(ctx context.Context, base string, kind archive.JournalKind) (out []archive.JournalEntry, err error) {
	query, args := allFactsQuery, []any{string(kind)}
	if base != "" {
		query, args = factsQuery, []any{base, string(kind)}
	}
	err = s.query(ctx, query, args, func(scan scanFunc) error {
		e := archive.JournalEntry{Version: 1, Kind: kind}
		var at int64
		var data []byte
		err := scan(&e.ID, &e.Session, &at, &data)
		e.Time, e.Data = index.Instant(at), json.RawMessage(data)
		out = append(out, e)
		return err
	})
	return out, err
}

// applyEntry stores an entry and what follows from it, but for the passages of
// segments, which it adds to segments.
func (s *Store) applyEntry(ctx context.Context, e *archive.JournalEntry, segments map[string][]string) error {
	if e.Kind == archive.JournalSummary && index.ValidID(e.Session) {
		var fact archive.SummaryFact
		if json.Unmarshal(e.Data, &fact) == nil {
			return s.applySummary(ctx, e, fact)
		}
	}
	r, err := s.exec(ctx, "INSERT INTO journal (id, kind, session_id, time, data) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
		e.ID, string(e.Kind), e.Session, index.Nanos(e.Time), string(e.Data))
	if err != nil {
		return err
	}
	if fresh, err := r.RowsAffected(); err != nil || fresh == 0 {
		return err
	}
	switch e.Kind {
	case archive.JournalMerge:
		var fact archive.MergeFact
		if json.Unmarshal(e.Data, &fact) == nil && fact.From != "" && fact.From != fact.Into {
			return s.applyMerge(ctx, e, fact)
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
			return s.applyAccess(ctx, e, fact)
		}
	}
	return nil
}

func (s *Store) applyMerge(ctx context.Context, e *archive.JournalEntry, fact archive.MergeFact) error {
	_, err := s.exec(ctx, "INSERT INTO aliases (old, target, time, id) VALUES (?, ?, ?, ?) ON CONFLICT (old) DO UPDATE SET "+
		"target = excluded.target, time = excluded.time, id = excluded.id WHERE (excluded.time, excluded.id) > (time, id)",
		fact.From, fact.Into, index.Nanos(e.Time), e.ID)
	return err
}
