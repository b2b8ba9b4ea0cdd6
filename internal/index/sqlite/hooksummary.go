package sqlite

import (
	"context"

	"strandline/internal/archive"
	"strandline/internal/index"
)

const summarizedQuery = "SELECT 1 FROM sessions s CROSS JOIN compactions c ON c.session = s.no " +
	"WHERE s.id >= ?1 AND s.id < ?1 || 'A' AND (s.id = ?1 OR substr(s.id, length(?1) + 1, 1) = '@') " +
	"AND c.summary_line >= 0 AND c.time >= ?2 LIMIT 1"

// applySummary stores a summary unless a transcript holds it by now.
func (s *Store) applySummary(ctx context.Context, e *archive.JournalEntry, fact archive.SummaryFact) error {
	base := index.BaseID(e.Session)
	var one int
	done, err := s.queryRow(ctx, summarizedQuery, []any{base, index.Nanos(e.Time)}, &one)
	if err != nil || done {
		return err
	}
	r, err := s.exec(ctx, "INSERT INTO hook_summaries (id, session_id, time, source, text) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
		e.ID, base, index.Nanos(e.Time), fact.Source, fact.Text)
	if err != nil {
		return err
	}
	if fresh, err := r.RowsAffected(); err != nil || fresh == 0 {
		return err
	}
	no, err := s.intern(ctx, base)
	if err != nil {
		return err
	}
	return s.putPassages(ctx, no, archive.IsAgentID(base), index.SummaryPassages(archive.HookSummary{ID: e.ID, Session: base, Time: e.Time.UTC(), Text: fact.Text}))
}

// dropHookSummaries removes the summaries of a session that were told until then,
// because a transcript holds a summary of that time.
func (s *Store) dropHookSummaries(ctx context.Context, base string, until int64) error {
	var ids []string
	err := s.query(ctx, "SELECT id FROM hook_summaries WHERE session_id = ? AND time <= ?", []any{base, until}, func(scan scanFunc) error {
		var id string
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	no, err := s.number(ctx, base)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := s.exec(ctx, "DELETE FROM hook_summaries WHERE id = ?", id); err != nil {
			return err
		}
		first := index.HookSeq(id)
		if err := s.dropHookPassages(ctx, no, first, first+index.HookChunks); err != nil {
			return err
		}
	}
	return nil
}

// dropHookPassages removes passages of hooks with sequence numbers in [from, to).
func (s *Store) dropHookPassages(ctx context.Context, no int64, from, to int) error {
	var ids []index.ID
	err := s.query(ctx, "SELECT id FROM passages WHERE session = ? AND turn = ? AND step = -1 AND seq >= ? AND seq < ?",
		[]any{no, index.HookTurn, from, to}, func(scan scanFunc) error {
			var id index.ID
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.dropPassage(ctx, id); err != nil {
			return err
		}
	}
	return s.countPassages(ctx, -len(ids))
}

// moveHookSummaries makes the passages of a session's summaries anew under its
// name, after the session with number no lost that name.
func (s *Store) moveHookSummaries(ctx context.Context, id string, no int64) error {
	summaries, err := s.hookSummaries(ctx, id)
	if err != nil || len(summaries) == 0 {
		return err
	}
	to, err := s.intern(ctx, id)
	if err != nil {
		return err
	}
	for _, h := range summaries {
		first := index.HookSeq(h.ID)
		if err := s.dropHookPassages(ctx, no, first, first+index.HookChunks); err != nil {
			return err
		}
		if err := s.putPassages(ctx, to, archive.IsAgentID(id), index.SummaryPassages(h)); err != nil {
			return err
		}
	}
	return nil
}

const hookSummariesQuery = "SELECT id, time, source, text FROM hook_summaries WHERE session_id = ? ORDER BY time, id"

// HookSummaries returns the summaries of a session that only hooks told so far,
// oldest first.
func (s *Store) HookSummaries(ctx context.Context, session string) (out []archive.HookSummary, err error) {
	err = s.read(ctx, "read summaries", func(ctx context.Context) error {
		out, err = s.hookSummaries(ctx, index.BaseID(session))
		return err
	})
	return out, err
}

func (s *Store) hookSummaries(ctx context.Context, base string) (out []archive.HookSummary, err error) {
	err = s.query(ctx, hookSummariesQuery, []any{base}, func(scan scanFunc) error {
		h := archive.HookSummary{Session: base}
		var at int64
		if err := scan(&h.ID, &at, &h.Source, &h.Text); err != nil {
			return err
		}
		h.Time = index.Instant(at)
		out = append(out, h)
		return nil
	})
	return out, err
}
