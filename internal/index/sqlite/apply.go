package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// Apply stores what a reader found, in one transaction: all of it is there
// afterwards or nothing. Rows replace those of the same place; an identity stays
// with its first owner, and a turn that was dead stays dead.
//
// A batch that ends at the session's cursor or before it has been applied and
// changes nothing. One that begins elsewhere than at the cursor is refused with
// archive.ErrStale.
func (s *Store) Apply(ctx context.Context, b archive.Batch) error {
	return s.ApplyAll(ctx, []archive.Batch{b})
}

// ApplyAll stores several batches in one transaction, those of one session in
// their order.
func (s *Store) ApplyAll(ctx context.Context, bs []archive.Batch) error {
	for i := range bs {
		if id := bs[i].Session.ID; !index.ValidID(id) {
			return archive.Invalid(fmt.Sprintf("%q is not a session id", archive.Clip(id, 60)), "")
		}
	}
	return s.write(ctx, "index a session", func(calm context.Context) error {
		writers := make([]*batchWriter, len(bs))
		for i := range bs {
			no, err := s.intern(calm, bs[i].Session.ID)
			if err != nil {
				return err
			}
			writers[i] = &batchWriter{s: s, b: &bs[i], no: no}
		}
		// The full-text table takes ascending numbers fastest.
		slices.SortStableFunc(writers, func(x, y *batchWriter) int { return int(x.no - y.no) })
		for _, w := range writers {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := index.StoreBatch(calm, w.b.Session.ID, w); err != nil {
				return err
			}
		}
		return nil
	})
}

// intern returns the number of a session id and gives it one if it has none.
func (s *Store) intern(ctx context.Context, id string) (no int64, err error) {
	no, err = s.number(ctx, id)
	if err != nil || no != 0 {
		return no, err
	}
	r, err := s.exec(ctx, "INSERT INTO sessions (id) VALUES (?)", id)
	if err != nil {
		return 0, fmt.Errorf("number a session: %w", err)
	}
	return r.LastInsertId()
}

// number returns the number of a session id, 0 if it has none.
func (s *Store) number(ctx context.Context, id string) (no int64, err error) {
	_, err = s.queryRow(ctx, "SELECT no FROM sessions WHERE id = ?", []any{id}, &no)
	return no, err
}

// batchWriter stores one batch.
type batchWriter struct {
	s  *Store
	b  *archive.Batch
	no int64
	// owners are the numbers of other sessions that this one copied from.
	owners map[string]int64
}

const dueQuery = "SELECT generation, offset FROM cursors WHERE session = ?"

// Due reports whether the batch is what comes next in its session.
func (w *batchWriter) Due(ctx context.Context) (bool, error) {
	var generation int
	var offset int64
	found, err := w.s.queryRow(ctx, dueQuery, []any{w.no}, &generation, &offset)
	if err != nil {
		return false, err
	}
	return index.Due(w.b, found, generation, offset)
}

// owner returns the number of the session that a row was copied from; the
// session may come into the archive later, or never.
func (w *batchWriter) owner(ctx context.Context, ref *archive.Ref) (no int64, at archive.Ref, err error) {
	if ref == nil {
		return 0, archive.Ref{}, nil
	}
	if ref.Session == w.b.Session.ID {
		return w.no, *ref, nil
	}
	if no, ok := w.owners[ref.Session]; ok {
		return no, *ref, nil
	}
	if no, err = w.s.intern(ctx, ref.Session); err != nil {
		return 0, archive.Ref{}, err
	}
	if w.owners == nil {
		w.owners = map[string]int64{}
	}
	w.owners[ref.Session] = no
	return no, *ref, nil
}

// replace returns the statement that puts a whole row in the place of the one
// with the same key. SQLite parses it in a third of the time of an upsert that
// names every column twice, and a hook parses each statement once.
func replace(table, key, columns string) string {
	n := strings.Count(key, ",") + strings.Count(columns, ",") + 2
	return "REPLACE INTO " + table + " (" + key + ", " + columns + ") VALUES (?" + strings.Repeat(", ?", n-1) + ")"
}

// upsert returns an INSERT that replaces the row of the same key.
func upsert(table string, key, columns string) string {
	var set strings.Builder
	n := 0
	for c := range strings.SplitSeq(columns, ", ") {
		if n > 0 {
			set.WriteString(", ")
		}
		n++
		set.WriteString(c + " = excluded." + c)
	}
	n += strings.Count(key, ",") + 1
	return "INSERT INTO " + table + " (" + key + ", " + columns + ") VALUES (?" + strings.Repeat(", ?", n-1) +
		") ON CONFLICT (" + key + ") DO UPDATE SET " + set.String()
}
