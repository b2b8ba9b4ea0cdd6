package sqlite

import (
	"context"

	"strandline/internal/archive"
	"strandline/internal/index"
)

const (
	insertPassage = "INSERT INTO passages (id, session, turn, step, seq, kind, label, paths, line_from, line_to, time, partial, sum, text) " +
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	updatePassage = "UPDATE passages SET label = ?, line_from = ?, line_to = ?, time = ?, partial = ? WHERE id = ?"
	insertWords   = "INSERT INTO words (rowid, terms) VALUES (?, ?)"
	countQuery    = "INSERT INTO meta (name, value) VALUES ('passages', ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value"
)

// PutPassages stores passages of one session. It indexes the terms only of passages
// that are new or whose text changed.
func (t tx) PutPassages(ctx context.Context, session int64, agent bool, ps []archive.Passage) error {
	if len(ps) == 0 {
		return nil
	}
	held, err := index.HeldPassages(ctx, t, session, ps)
	if err != nil {
		return err
	}
	var next int64
	if _, err := t.QueryRow(ctx, "SELECT next_doc FROM sessions WHERE no = ?", []any{session}, &next); err != nil {
		return err
	}
	first, added := next, 0
	for i := range ps {
		p := &ps[i]
		paths := index.EncodeList(p.Paths)
		at, sum := index.PlaceOf(p), index.Checksum(p, paths)
		old, ok := held[at]
		if ok && old.Sum == sum {
			if _, err := t.exec(ctx, updatePassage, p.Label, p.LineFrom, p.LineTo, index.Nanos(p.Time), p.Partial, int64(old.ID)); err != nil {
				return err
			}
			continue
		}
		if ok {
			if err := t.dropPassage(ctx, int64(old.ID)); err != nil {
				return err
			}
			added--
		}
		// A changed passage gets a new ID: IDs only ever grow, which is fastest for
		// the full-text table.
		id := index.NewID(session, next, agent, p.Kind)
		next++
		added++
		if _, err := t.exec(ctx, insertPassage, int64(id), session, p.Turn, p.Step, p.Seq, string(p.Kind), p.Label, paths,
			p.LineFrom, p.LineTo, index.Nanos(p.Time), p.Partial, sum, p.Text); err != nil {
			return err
		}
		t.row = t.enc.Append(t.row[:0], p)
		if _, err := t.exec(ctx, insertWords, int64(id), string(t.row)); err != nil {
			return err
		}
		held[at] = index.Held{ID: id, Sum: sum}
	}
	if next != first {
		if _, err := t.exec(ctx, "UPDATE sessions SET next_doc = ? WHERE no = ?", next, session); err != nil {
			return err
		}
	}
	return t.countPassages(ctx, added)
}

// DropPassages deletes passages and their terms; a trigger deletes their vectors.
func (t tx) DropPassages(ctx context.Context, ids []int64) error {
	for _, id := range ids {
		if err := t.dropPassage(ctx, id); err != nil {
			return err
		}
	}
	return t.countPassages(ctx, -len(ids))
}

func (s *Store) dropPassage(ctx context.Context, id int64) error {
	if _, err := s.exec(ctx, "DELETE FROM words WHERE rowid = ?", id); err != nil {
		return err
	}
	_, err := s.exec(ctx, "DELETE FROM passages WHERE id = ?", id)
	return err
}

// countPassages updates the number of passages. Every search needs it, and counting
// the rows would take milliseconds.
func (s *Store) countPassages(ctx context.Context, added int) error {
	if added == 0 {
		return nil
	}
	_, err := s.exec(ctx, countQuery, added)
	return err
}
