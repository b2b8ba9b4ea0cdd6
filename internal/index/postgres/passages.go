package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// updateMoved updates passages with an unchanged text. Their place in the transcript may
// still change.
const updateMoved = "UPDATE passages p SET label = m.label, line_from = m.line_from, line_to = m.line_to, time = m.time, partial = m.partial " +
	"FROM ROWS AS m (id, label, line_from, line_to, time, partial) " +
	"WHERE p.id = m.id AND (p.label, p.line_from, p.line_to, p.time, p.partial) IS DISTINCT FROM (m.label, m.line_from, m.line_to, m.time, m.partial)"

// PutPassages stores passages of one session. It indexes the terms only of passages
// that are new or whose text changed; a changed one gets a new ID.
func (t tx) PutPassages(ctx context.Context, session int64, agent bool, ps []archive.Passage) error {
	plan, err := index.PlanPassages(ctx, t, " FOR UPDATE", session, agent, ps)
	if err != nil {
		return err
	}
	moved := newBulk(index.Table{Columns: "id, label, line_from, line_to, time, partial", Key: 1})
	for _, r := range plan.Moved {
		moved.add(int64(r.ID), r.Label, r.LineFrom, r.LineTo, index.Nanos(r.Time), r.Partial)
	}
	if err := moved.exec(ctx, t, updateMoved); err != nil {
		return err
	}
	if err := t.DropPassages(ctx, plan.Replaced); err != nil || len(plan.Added) == 0 {
		return err
	}
	put, lists := newBulk(index.Table{Name: "passages", Key: 1, Columns: index.PassageColumns + ", terms"}), newTermLists(session)
	var enc index.Encoder
	var row []byte
	for _, r := range plan.Added {
		row = enc.Append(row[:0], r.Passage)
		terms := clean(string(row))
		lists.add(r.ID, terms)
		put.add(append(r.Values(session), terms)...)
	}
	if err := put.insert(ctx, t, ""); err != nil {
		return err
	}
	if err := lists.write(ctx, t); err != nil {
		return err
	}
	_, err = t.Exec(ctx, "UPDATE sessions SET next_doc = ?, held = held + ? WHERE no = ?", plan.Next, len(plan.Added), session)
	return err
}

// DropPassages deletes passages, their terms and their vectors. The rows of their
// sessions are locked.
func (t tx) DropPassages(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	bySession := map[int64]*termLists{}
	counts := map[int64]int{}
	err := t.Query(ctx, "DELETE FROM passages WHERE id = ANY(?) RETURNING id, terms", []any{ids}, func(scan index.Scan) error {
		var id index.ID
		var terms string
		if err := scan(&id, &terms); err != nil {
			return err
		}
		session := id.Session()
		if bySession[session] == nil {
			bySession[session] = newTermLists(session)
		}
		bySession[session].add(id, terms)
		counts[session]++
		return nil
	})
	if err != nil {
		return err
	}
	for session, lists := range bySession {
		if err := lists.remove(ctx, t); err != nil {
			return err
		}
		if _, err := t.Exec(ctx, "UPDATE sessions SET held = held - ? WHERE no = ?", counts[session], session); err != nil {
			return err
		}
	}
	_, err = t.Exec(ctx, dropVectors, ids)
	return err
}

// A posting is the lower bits of a passage's ID. The upper bits are the session's
// number, which a row of postings has once.
const (
	postingSize = 4
	postingMask = 1<<index.SessionShift - 1
)

// termLists holds, for each term, the postings of some passages of one session.
type termLists struct {
	session int64
	terms   map[string]posting
}

type posting struct{ strong, weak []byte }

func newTermLists(session int64) *termLists { return &termLists{session, map[string]posting{}} }

// add adds a passage with its row of terms. IDs must ascend.
func (x *termLists) add(id index.ID, row string) {
	low := uint32(int64(id) & postingMask)
	for field := range strings.FieldsSeq(row) {
		term, strong := strings.CutSuffix(field, index.StrongMark)
		p := x.terms[term]
		if strong {
			p.strong = binary.BigEndian.AppendUint32(p.strong, low)
		} else {
			p.weak = binary.BigEndian.AppendUint32(p.weak, low)
		}
		x.terms[term] = p
	}
}

func newPostings() *bulk {
	return newBulk(index.Table{Name: "postings", Columns: "term, session, strong, weak", Key: 2})
}

// write appends the postings to the stored ones.
func (x *termLists) write(ctx context.Context, t tx) error {
	put := newPostings()
	for _, term := range slices.Sorted(maps.Keys(x.terms)) {
		p := x.terms[term]
		put.add(term, x.session, append([]byte{}, p.strong...), append([]byte{}, p.weak...))
	}
	return put.insert(ctx, t, " ON CONFLICT (term, session) DO UPDATE SET strong = postings.strong || excluded.strong, weak = postings.weak || excluded.weak")
}

// remove deletes the postings.
func (x *termLists) remove(ctx context.Context, t tx) error {
	words := slices.Sorted(maps.Keys(x.terms))
	put := newPostings()
	var empty []string
	const query = "SELECT term, strong, weak FROM postings WHERE term = ANY(?) AND session = ? FOR UPDATE"
	err := t.Query(ctx, query, []any{words, x.session}, func(scan index.Scan) error {
		var term string
		var strong, weak []byte
		if err := scan(&term, &strong, &weak); err != nil {
			return err
		}
		strong, weak = without(strong, x.terms[term].strong), without(weak, x.terms[term].weak)
		if len(strong) == 0 && len(weak) == 0 {
			empty = append(empty, term)
			return nil
		}
		put.add(term, x.session, strong, weak)
		return nil
	})
	if err != nil {
		return err
	}
	if len(empty) > 0 {
		if _, err := t.Exec(ctx, "DELETE FROM postings WHERE term = ANY(?) AND session = ?", empty, x.session); err != nil {
			return err
		}
	}
	return put.insert(ctx, t, put.table.OnConflict())
}

// without returns the postings of list that are not in removed. It is never nil.
func without(list, removed []byte) []byte {
	out := make([]byte, 0, len(list))
	for piece := range slices.Chunk(list, postingSize) {
		in := false
		for other := range slices.Chunk(removed, postingSize) {
			in = in || bytes.Equal(piece, other)
		}
		if !in {
			out = append(out, piece...)
		}
	}
	return out
}

// appendIDs appends the passage IDs of a row of postings.
func appendIDs(ids []int64, session int64, list []byte) []int64 {
	high := session << index.SessionShift
	for piece := range slices.Chunk(list, postingSize) {
		ids = append(ids, high|int64(binary.BigEndian.Uint32(piece)))
	}
	return ids
}
