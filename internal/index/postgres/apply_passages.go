package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
	"strandline/internal/index"
)

const (
	passageTable = "id, session, turn, step, seq, kind, label, paths, line_from, line_to, time, partial, sum, terms, text"
	// What is already there lies within few turns; only those are read.
	heldQuery = "SELECT turn, step, seq, id, sum FROM passages WHERE session = $1 AND (turn, step) BETWEEN ($2, $3) AND ($4, $5)"
	// Where a text stays what it was its place in the transcript may still move.
	movedQuery = "UPDATE passages p SET label = m.label, line_from = m.line_from, line_to = m.line_to, time = m.time, partial = m.partial " +
		"FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::boolean[]) AS m (id, label, line_from, line_to, time, partial) " +
		"WHERE p.id = m.id AND (p.label, p.line_from, p.line_to, p.time, p.partial) IS DISTINCT FROM (m.label, m.line_from, m.line_to, m.time, m.partial)"
)

// place is a passage's key within its session.
type place struct{ turn, step, seq int }

// heldPassage is what the store holds at a place.
type heldPassage struct {
	id  index.ID
	sum int64
}

// Passages stores the batch's passages, and the words that they are found by.
func (w *batchWriter) Passages(ctx context.Context) error {
	agent := w.b.Session.Relation == archive.RelationAgent || archive.IsAgentID(w.b.Session.ID)
	return putPassages(ctx, w.tx, w.no, agent, w.b.Passages)
}

// putPassages stores passages of one session, whose row is locked. Words are indexed
// anew only for those that are new or whose text changed; such a one gets a new
// number.
func putPassages(ctx context.Context, tx pgx.Tx, session int64, agent bool, ps []archive.Passage) error {
	if len(ps) == 0 {
		return nil
	}
	there, err := heldPassages(ctx, tx, session, ps)
	if err != nil {
		return err
	}
	var next int64
	if _, err := queryRow(ctx, tx, "SELECT next_doc FROM sessions WHERE no = $1 FOR UPDATE", []any{session}, &next); err != nil {
		return err
	}
	fresh := map[place]int{} // which of ps is new at a place, the last one that stands there
	var moved movedRows
	var gone []int64
	for i := range ps {
		p := &ps[i]
		at := place{p.Turn, p.Step, p.Seq}
		if old, ok := there[at]; ok {
			if old.sum == index.Checksum(p, index.EncodeList(p.Paths)) {
				delete(fresh, at)
				moved.add(int64(old.id), p)
				continue
			}
		}
		fresh[at] = i
	}
	put, lists, enc := newBulk("passages", passageTable, 1), newTermLists(session), index.NewEncoder()
	var row []byte
	for i := range ps {
		p := &ps[i]
		at := place{p.Turn, p.Step, p.Seq}
		if last, ok := fresh[at]; !ok || last != i {
			continue
		}
		if old, ok := there[at]; ok {
			gone = append(gone, int64(old.id))
		}
		id := index.NewID(session, next, agent, p.Kind)
		next++
		row = enc.Append(row[:0], p)
		terms := clean(string(row))
		lists.add(id, terms)
		paths := index.EncodeList(p.Paths)
		put.add(int64(id), session, p.Turn, p.Step, p.Seq, string(p.Kind), p.Label, paths, p.LineFrom, p.LineTo, index.Nanos(p.Time),
			p.Partial, index.Checksum(p, paths), terms, p.Text)
	}
	if err := moved.update(ctx, tx); err != nil {
		return err
	}
	if err := dropPassages(ctx, tx, gone); err != nil {
		return err
	}
	if err := put.insert(ctx, tx, ""); err != nil {
		return err
	}
	if err := lists.write(ctx, tx); err != nil {
		return err
	}
	_, err = exec(ctx, tx, "UPDATE sessions SET next_doc = $2, held = held + $3 WHERE no = $1 AND next_doc <> $2", session, next, put.rows)
	return err
}

// heldPassages returns what the store holds between the first and the last step of
// passages.
func heldPassages(ctx context.Context, tx pgx.Tx, session int64, ps []archive.Passage) (map[place]heldPassage, error) {
	from, to := &ps[0], &ps[0]
	for i := range ps {
		if before(&ps[i], from) {
			from = &ps[i]
		}
		if before(to, &ps[i]) {
			to = &ps[i]
		}
	}
	there := map[place]heldPassage{}
	err := query(ctx, tx, heldQuery, []any{session, from.Turn, from.Step, to.Turn, to.Step}, func(scan scanFunc) error {
		var at place
		var h heldPassage
		err := scan(&at.turn, &at.step, &at.seq, (*int64)(&h.id), &h.sum)
		there[at] = h
		return err
	})
	return there, err
}

// before reports whether p stands in an earlier step than q.
func before(p, q *archive.Passage) bool {
	return p.Turn < q.Turn || p.Turn == q.Turn && p.Step < q.Step
}

// dropPassages removes passages, their terms and what was made of them. Their
// session's row is locked.
func dropPassages(ctx context.Context, tx pgx.Tx, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	bySession := map[int64]*termLists{}
	counts := map[int64]int{}
	err := query(ctx, tx, "DELETE FROM passages WHERE id = ANY($1) RETURNING id, terms", []any{ids}, func(scan scanFunc) error {
		var id int64
		var terms string
		if err := scan(&id, &terms); err != nil {
			return err
		}
		session := index.ID(id).Session()
		if bySession[session] == nil {
			bySession[session] = newTermLists(session)
		}
		bySession[session].add(index.ID(id), terms)
		counts[session]++
		return nil
	})
	if err != nil {
		return err
	}
	for session, gone := range bySession {
		if err := gone.remove(ctx, tx); err != nil {
			return err
		}
		if _, err := exec(ctx, tx, "UPDATE sessions SET held = held - $2 WHERE no = $1", session, counts[session]); err != nil {
			return err
		}
	}
	_, err = exec(ctx, tx, dropVectors, ids)
	return err
}

// movedRows are passages whose text stayed, and what stands beside it now.
type movedRows struct {
	ids, from, to, times []int64
	labels               []string
	partial              []bool
}

func (c *movedRows) add(id int64, p *archive.Passage) {
	c.ids, c.labels = append(c.ids, id), append(c.labels, clean(p.Label))
	c.from, c.to = append(c.from, int64(p.LineFrom)), append(c.to, int64(p.LineTo))
	c.times, c.partial = append(c.times, index.Nanos(p.Time)), append(c.partial, p.Partial)
}

func (c *movedRows) update(ctx context.Context, tx pgx.Tx) error {
	if len(c.ids) == 0 {
		return nil
	}
	_, err := exec(ctx, tx, movedQuery, c.ids, c.labels, c.from, c.to, c.times, c.partial)
	return err
}

// fieldsOf calls fn with each term of a row, and whether it weighs much there.
func fieldsOf(row string, fn func(term string, strong bool)) {
	for field := range strings.FieldsSeq(row) {
		term, strong := strings.CutSuffix(field, index.StrongMark)
		fn(term, strong)
	}
}
