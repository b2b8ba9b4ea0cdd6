package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"strandline/internal/index"
)

// A posting is the lower bits of a passage's ID. The upper bits are the session's
// number, which a row of postings has once.
const (
	postingSize = 4
	postingMask = 1<<index.SessionShift - 1
)

// termLists holds, for each term, the postings of some passages of one session.
type termLists struct {
	session int64
	terms   map[string]*posting
}

type posting struct{ strong, weak []byte }

func newTermLists(session int64) *termLists { return &termLists{session, map[string]*posting{}} }

// add adds a passage with its row of terms. IDs must ascend.
func (x *termLists) add(id index.ID, row string) {
	low := uint32(int64(id) & postingMask)
	for field := range strings.FieldsSeq(row) {
		term, strong := strings.CutSuffix(field, index.StrongMark)
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
	return put.insert(ctx, t, "ON CONFLICT (term, session) DO UPDATE SET strong = postings.strong || excluded.strong, weak = postings.weak || excluded.weak")
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
	return put.put(ctx, t)
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
