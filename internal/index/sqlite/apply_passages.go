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
	deleteWords   = "DELETE FROM words WHERE rowid = ?"
	nextDocQuery  = "SELECT next_doc FROM sessions WHERE no = ?"
	setNextDoc    = "UPDATE sessions SET next_doc = ? WHERE no = ?"
	countQuery    = "INSERT INTO meta (name, value) VALUES ('passages', ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value"
	heldQuery     = "SELECT turn, step, seq, id, sum FROM passages WHERE session = ? AND turn BETWEEN ? AND ?"
	// What a hook adds lies within one turn, and a headless session is one turn
	// of thousands of steps: only those that may change are read.
	heldInTurnQuery = "SELECT turn, step, seq, id, sum FROM passages WHERE session = ? AND turn = ? AND step BETWEEN ? AND ?"
)

// place is a passage's key within its session.
type place struct{ turn, step, seq int }

// held is what the index holds at a place.
type held struct {
	id  index.ID
	sum int64
}

// encoder makes rows of terms; it is built when the first passage is written,
// because readers never need it.
type encoder struct {
	enc *index.Encoder
	row []byte
}

func (e *encoder) encode(p *archive.Passage) string {
	if e.enc == nil {
		e.enc = index.NewEncoder()
	}
	e.row = e.enc.Append(e.row[:0], p)
	return string(e.row)
}

// Passages stores the batch's passages, and the words that they are found by.
func (w *batchWriter) Passages(ctx context.Context) error {
	agent := w.b.Session.Relation == archive.RelationAgent || archive.IsAgentID(w.b.Session.ID)
	return w.s.putPassages(ctx, w.no, agent, w.b.Passages)
}

// putPassages stores passages of one session. Words are indexed anew only for
// those that are new or whose text changed. Rows go in one by one: with this
// driver an INSERT of sixteen rows took half as long again as sixteen of one.
func (s *Store) putPassages(ctx context.Context, session int64, agent bool, ps []archive.Passage) error {
	if len(ps) == 0 {
		return nil
	}
	from, to := ps[0], ps[0]
	for i := range ps {
		if before(&ps[i], &from) {
			from = ps[i]
		}
		if before(&to, &ps[i]) {
			to = ps[i]
		}
	}
	there, err := s.heldPassages(ctx, session, &from, &to)
	if err != nil {
		return err
	}
	var next int64
	if _, err := s.queryRow(ctx, nextDocQuery, []any{session}, &next); err != nil {
		return err
	}
	first, added := next, 0
	for i := range ps {
		p := &ps[i]
		paths := index.EncodeList(p.Paths)
		at, sum := place{p.Turn, p.Step, p.Seq}, index.Checksum(p, paths)
		old, ok := there[at]
		if ok && old.sum == sum {
			if _, err := s.exec(ctx, updatePassage, p.Label, p.LineFrom, p.LineTo, index.Nanos(p.Time), bit(p.Partial), int64(old.id)); err != nil {
				return err
			}
			continue
		}
		if ok {
			if err := s.dropPassage(ctx, old.id); err != nil {
				return err
			}
			added--
		}
		// A changed passage gets a new number: numbers then only ever grow,
		// which the full-text table is fastest with.
		id := index.NewID(session, next, agent, p.Kind)
		next++
		added++
		if _, err := s.exec(ctx, insertPassage, int64(id), session, p.Turn, p.Step, p.Seq, string(p.Kind), p.Label, paths,
			p.LineFrom, p.LineTo, index.Nanos(p.Time), bit(p.Partial), sum, p.Text); err != nil {
			return err
		}
		if _, err := s.exec(ctx, insertWords, int64(id), s.enc.encode(p)); err != nil {
			return err
		}
		there[at] = held{id, sum}
	}
	if next != first {
		if _, err := s.exec(ctx, setNextDoc, next, session); err != nil {
			return err
		}
	}
	return s.countPassages(ctx, added)
}

// before reports whether p stands in an earlier step than q.
func before(p, q *archive.Passage) bool {
	return p.Turn < q.Turn || p.Turn == q.Turn && p.Step < q.Step
}

// heldPassages returns what the index holds from one step to another.
func (s *Store) heldPassages(ctx context.Context, session int64, from, to *archive.Passage) (map[place]held, error) {
	there := map[place]held{}
	query, args := heldQuery, []any{session, from.Turn, to.Turn}
	if from.Turn == to.Turn {
		query, args = heldInTurnQuery, []any{session, from.Turn, from.Step, to.Step}
	}
	err := s.query(ctx, query, args,
		func(scan scanFunc) error {
			var at place
			var h held
			if err := scan(&at.turn, &at.step, &at.seq, &h.id, &h.sum); err != nil {
				return err
			}
			there[at] = h
			return nil
		})
	return there, err
}

func (s *Store) dropPassage(ctx context.Context, id index.ID) error {
	if _, err := s.exec(ctx, deleteWords, int64(id)); err != nil {
		return err
	}
	_, err := s.exec(ctx, "DELETE FROM passages WHERE id = ?", int64(id))
	return err
}

// countPassages keeps the number of passages, which every search needs and
// counting would cost it milliseconds.
func (s *Store) countPassages(ctx context.Context, added int) error {
	if added == 0 {
		return nil
	}
	_, err := s.exec(ctx, countQuery, added)
	return err
}
