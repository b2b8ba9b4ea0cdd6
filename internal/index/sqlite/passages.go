package sqlite

import (
	"context"

	"strandline/internal/archive"
	"strandline/internal/index"
)

const (
	insertPassage = "INSERT INTO passages (" + index.PassageColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	updatePassage = "UPDATE passages SET label = ?, line_from = ?, line_to = ?, time = ?, partial = ? WHERE id = ?"
	insertWords   = "INSERT INTO words (rowid, terms) VALUES (?, ?)"
	countQuery    = "INSERT INTO meta (name, value) VALUES ('passages', ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value"
)

// PutPassages stores passages of one session. It indexes the terms only of passages
// that are new or whose text changed.
func (t tx) PutPassages(ctx context.Context, session int64, agent bool, ps []archive.Passage) error {
	plan, err := index.PlanPassages(ctx, t, "", session, agent, ps)
	if err != nil {
		return err
	}
	for _, r := range plan.Moved {
		if _, err := t.exec(ctx, updatePassage, r.Label, r.LineFrom, r.LineTo, index.Nanos(r.Time), r.Partial, int64(r.ID)); err != nil {
			return err
		}
	}
	if err := t.drop(ctx, plan.Replaced); err != nil || len(plan.Added) == 0 {
		return err
	}
	// A changed passage gets a new ID: IDs only ever grow, which is fastest for
	// the full-text table.
	for _, r := range plan.Added {
		if err := t.done.Err(); err != nil { // the terms of a long text take seconds
			return err
		}
		if _, err := t.exec(ctx, insertPassage, r.Values(session)...); err != nil {
			return err
		}
		t.row = t.enc.Append(t.row[:0], r.Passage)
		if _, err := t.exec(ctx, insertWords, int64(r.ID), string(t.row)); err != nil {
			return err
		}
	}
	if _, err := t.exec(ctx, "UPDATE sessions SET next_doc = ? WHERE no = ?", plan.Next, session); err != nil {
		return err
	}
	return t.countPassages(ctx, len(plan.Added)-len(plan.Replaced))
}

// DropPassages deletes passages and their terms; a trigger deletes their vectors.
func (t tx) DropPassages(ctx context.Context, ids []int64) error {
	if err := t.drop(ctx, ids); err != nil {
		return err
	}
	return t.countPassages(ctx, -len(ids))
}

// drop deletes passages and their terms, but leaves their number.
func (s *Store) drop(ctx context.Context, ids []int64) error {
	for _, id := range ids {
		for _, query := range []string{"DELETE FROM words WHERE rowid = ?", "DELETE FROM passages WHERE id = ?"} {
			if _, err := s.exec(ctx, query, id); err != nil {
				return err
			}
		}
	}
	return nil
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
