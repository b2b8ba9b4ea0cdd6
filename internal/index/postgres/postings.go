package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"strandline/internal/index"
)

// A posting is the lower bits of a passage's number: what is above them is the
// session's number, which a row of postings has once.
const (
	postingSize = 4
	postingMask = 1<<index.SessionShift - 1
)

// index is which of some passages of one session hold which terms.
type termLists struct {
	session int64
	terms   map[string]*posting
}

type posting struct{ strong, weak []byte }

func newTermLists(session int64) *termLists { return &termLists{session, map[string]*posting{}} }

// add takes a passage's row of terms. Numbers come ascending.
func (x *termLists) add(id index.ID, row string) {
	low := uint32(int64(id) & postingMask)
	fieldsOf(row, func(term string, strong bool) {
		p := x.terms[term]
		if p == nil {
			p = &posting{}
			x.terms[term] = p
		}
		if strong {
			p.strong = binary.BigEndian.AppendUint32(p.strong, low)
		} else {
			p.weak = binary.BigEndian.AppendUint32(p.weak, low)
		}
	})
}

// write adds the postings behind those that are there.
func (x *termLists) write(ctx context.Context, tx pgx.Tx) error {
	put := newBulk("postings", "term, session, strong, weak", 2)
	for _, term := range slices.Sorted(maps.Keys(x.terms)) {
		p := x.terms[term]
		put.add(term, x.session, append([]byte{}, p.strong...), append([]byte{}, p.weak...))
	}
	return put.insert(ctx, tx, "ON CONFLICT (term, session) DO UPDATE SET strong = postings.strong || excluded.strong, weak = postings.weak || excluded.weak")
}

// remove takes the postings out.
func (x *termLists) remove(ctx context.Context, tx pgx.Tx) error {
	words := slices.Sorted(maps.Keys(x.terms))
	put := newBulk("postings", "term, session, strong, weak", 2)
	var empty []string
	const sql = "SELECT term, strong, weak FROM postings WHERE term = ANY($1) AND session = $2 FOR UPDATE"
	err := query(ctx, tx, sql, []any{words, x.session}, func(scan scanFunc) error {
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
		if _, err := exec(ctx, tx, "DELETE FROM postings WHERE term = ANY($1) AND session = $2", empty, x.session); err != nil {
			return err
		}
	}
	return put.replace(ctx, tx, nil)
}

// without returns the postings of list that are not in gone. It is never nil.
func without(list, gone []byte) []byte {
	out := make([]byte, 0, len(list))
	for piece := range slices.Chunk(list, postingSize) {
		in := false
		for other := range slices.Chunk(gone, postingSize) {
			in = in || bytes.Equal(piece, other)
		}
		if !in {
			out = append(out, piece...)
		}
	}
	return out
}

// appendIDs appends the numbers of passages that a row of postings stands for.
func appendIDs(ids []int64, session int64, list []byte) []int64 {
	high := session << index.SessionShift
	for piece := range slices.Chunk(list, postingSize) {
		ids = append(ids, high|int64(binary.BigEndian.Uint32(piece)))
	}
	return ids
}
