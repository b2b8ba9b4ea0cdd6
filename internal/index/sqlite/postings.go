package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// The queries that read lists of passages from the blocks of the full-text index; see
// fts5.go.
const (
	blockQuery = "SELECT block FROM words_data WHERE id = ?"
	// leafQuery returns, for each segment and each word, the leaf that holds the word
	// if any does, in the order of the lists.
	leafQuery = "SELECT group_concat(coalesce((SELECT pgno FROM words_idx WHERE segid = s.value AND term <= CAST('0' || w.value AS BLOB) " +
		"ORDER BY term DESC LIMIT 1), 0)) FROM json_each(?1) s CROSS JOIN json_each(?2) w"
	nextLeafQuery = "SELECT pgno >> 1 FROM words_idx WHERE segid = ? AND term > ? ORDER BY term LIMIT 1"
	blocksQuery   = "SELECT id, block FROM words_data WHERE id IN (SELECT value FROM json_each(?))"
	rangeQuery    = "SELECT id, block FROM words_data WHERE id BETWEEN ? AND ? ORDER BY id"
)

// tailLeaves is the number of leaves of a long list that are read at once from its end,
// about as many as one capped list needs.
const tailLeaves = 4

// postings reads lists of rowids from the full-text index's blocks.
type postings struct {
	tx       tx
	segments []Segment
	deleted  []map[int64]bool // of each segment, nil until it is read
	lo, hi   int64            // bounds of the rowids
	limit    int              // the maximal length of a list, the newest rowids; 0: all
}

// span is a word's rowids in one segment.
type span struct {
	segment int
	first   int64 // the smallest
	ids     []int64
	leaf    int64 // with more: the leaf after which the list continues
	more    bool
}

// newPostings reads the segments, for lists of at most limit rowids from lo to hi.
func (t tx) newPostings(ctx context.Context, lo, hi int64, limit int) (*postings, error) {
	block, err := index.Value[[]byte](ctx, t, blockQuery, StructureRow)
	if err != nil {
		return nil, err
	}
	p := &postings{tx: t, lo: lo, hi: hi, limit: limit}
	p.segments, err = Segments(block)
	p.deleted = make([]map[int64]bool, len(p.segments))
	return p, err
}

// lists returns the rowids of the rows with each word, in ascending order. If the format
// is unknown, it fails with ErrFormat.
func (p *postings) lists(ctx context.Context, words []string) ([][]int64, error) {
	out := make([][]int64, len(words))
	if len(p.segments) == 0 || len(words) == 0 {
		return out, nil
	}
	spans, err := p.find(ctx, words)
	if err != nil {
		return nil, err
	}
	for w, found := range spans {
		if out[w], err = p.join(ctx, found, words[w]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// join merges the lists of a word in all segments, in ascending order. Later segments
// hold mostly larger rowids: once they reach the limit, of earlier segments only the
// rowids that are larger than the smallest one found are read.
func (p *postings) join(ctx context.Context, found []span, word string) (ids []int64, err error) {
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(b.first, a.first) })
	lo := p.lo
	for _, x := range found {
		more, err := p.finish(ctx, x, word, lo)
		if err != nil {
			return nil, err
		}
		ids = index.Newest(index.Union(more, ids), p.limit)
		if p.limit > 0 && len(ids) == p.limit {
			lo = ids[0]
		}
	}
	return ids, nil
}

// find reads, for each word and segment, the rowids in the leaf where the word begins.
func (p *postings) find(ctx context.Context, words []string) ([][]span, error) {
	type place struct {
		segment, word int
		leaf          int64
	}
	leaves, err := p.leaves(ctx, words)
	if err != nil {
		return nil, err
	}
	places := map[int64][]place{} // by row of the leaf
	var rows []int64
	for i, leaf := range leaves {
		x := place{i / len(words), i % len(words), leaf}
		seg := p.segments[x.segment]
		if x.leaf = max(x.leaf, seg.First); x.leaf > seg.Last {
			continue
		}
		row := seg.Leaf(x.leaf)
		if places[row] == nil {
			rows = append(rows, row)
		}
		places[row] = append(places[row], x)
	}
	spans := make([][]span, len(words))
	err = p.blocks(ctx, blocksQuery, []any{rows}, func(row int64, leaf Leaf) error {
		for _, x := range places[row] {
			ids, more, err := leaf.Find(Key(words[x.word]))
			if err != nil {
				return err
			}
			if ids == nil {
				continue
			}
			found := span{segment: x.segment, leaf: x.leaf, more: more && x.leaf < p.segments[x.segment].Last}
			if found.ids, err = ids.Append(nil); err != nil {
				return err
			}
			if len(found.ids) > 0 { // the rowids may begin in the next leaf
				found.first = found.ids[0]
			}
			spans[x.word] = append(spans[x.word], found)
		}
		return nil
	})
	return spans, err
}

// leaves returns, for each segment and each word, the number of the leaf that may hold the
// word; 0 means the first.
func (p *postings) leaves(ctx context.Context, words []string) ([]int64, error) {
	segments := archive.Convert(p.segments, func(seg Segment) int64 { return seg.ID })
	joined, err := index.Value[string](ctx, p.tx, leafQuery, segments, words)
	if err != nil {
		return nil, err
	}
	leaves := splitNumbers(joined)
	if len(leaves) != len(words)*len(segments) {
		return nil, fmt.Errorf("%w: %d leaves", ErrFormat, len(leaves))
	}
	for i := range leaves {
		leaves[i] >>= 1 // the lowest bit marks a long list with an index
	}
	return leaves, nil
}

// finish returns the live rowids of a list from lo on, including those in the leaves after
// its first one.
func (p *postings) finish(ctx context.Context, x span, word string, lo int64) ([]int64, error) {
	ids, err := p.live(ctx, x.segment, x.ids, lo)
	if err != nil || !x.more {
		return ids, err
	}
	seg := p.segments[x.segment]
	last := seg.Last
	if _, err := p.tx.QueryRow(ctx, nextLeafQuery, []any{seg.ID, Key(word)}, &last); err != nil {
		return nil, err
	}
	// Read from the end, until the bounds or the limit are reached.
	var parts [][]int64
	size := 0
	enough := func() bool { return p.limit > 0 && size >= p.limit }
	for to, leaves := last, int64(1); to > x.leaf && !enough(); to, leaves = to-leaves, tailLeaves {
		part, err := p.heads(ctx, seg.Leaf(max(x.leaf+1, to-leaves+1)), seg.Leaf(to))
		if err != nil {
			return nil, err
		}
		below := len(part) > 0 && part[0] < lo
		if part, err = p.live(ctx, x.segment, part, lo); err != nil {
			return nil, err
		}
		parts = append(parts, part)
		size += len(part)
		if below {
			break
		}
	}
	if !enough() {
		parts = append(parts, ids)
	}
	slices.Reverse(parts)
	return slices.Concat(parts...), nil
}

// heads reads the rowids at the start of consecutive leaves.
func (p *postings) heads(ctx context.Context, first, last int64) (ids []int64, err error) {
	err = p.blocks(ctx, rangeQuery, []any{first, last}, func(_ int64, leaf Leaf) error {
		list, _, err := leaf.Head()
		if err == nil {
			ids, err = list.Append(ids)
		}
		return err
	})
	return ids, err
}

// live returns the rowids from lo to the upper bound that were not deleted from a segment.
// ids must ascend; its memory is reused.
func (p *postings) live(ctx context.Context, segment int, ids []int64, lo int64) ([]int64, error) {
	from, _ := slices.BinarySearch(ids, lo)
	to, found := slices.BinarySearch(ids, p.hi)
	if found {
		to++
	}
	ids = ids[min(from, to):to]
	if p.segments[segment].Tombstones == 0 || len(ids) == 0 {
		return ids, nil
	}
	deleted, err := p.tombstones(ctx, segment)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(ids, func(id int64) bool { return deleted[id] }), nil
}

// blocks calls fn with each leaf that a query returns.
func (p *postings) blocks(ctx context.Context, query string, args []any, fn func(row int64, leaf Leaf) error) error {
	return p.tx.Query(ctx, query, args, func(scan index.Scan) error {
		var row int64
		var block []byte
		if err := scan(&row, &block); err != nil {
			return err
		}
		leaf, err := ParseLeaf(block)
		if err != nil {
			return err
		}
		return fn(row, leaf)
	})
}

// tombstones returns the rowids that were deleted from a segment.
func (p *postings) tombstones(ctx context.Context, segment int) (map[int64]bool, error) {
	if p.deleted[segment] != nil {
		return p.deleted[segment], nil
	}
	first, last := p.segments[segment].TombstoneRows()
	var ids []int64
	err := p.tx.Query(ctx, rangeQuery, []any{first, last}, func(scan index.Scan) error {
		var row int64
		var page []byte
		err := scan(&row, &page)
		if err == nil {
			ids, err = AppendTombstones(ids, page)
		}
		return err
	})
	gone := make(map[int64]bool, len(ids))
	for _, id := range ids {
		gone[id] = true
	}
	p.deleted[segment] = gone
	return gone, err
}

// splitNumbers parses numbers separated by commas.
func splitNumbers(joined string) []int64 {
	ids := make([]int64, 0, len(joined)/8)
	n := int64(0)
	for i := range len(joined) {
		if c := joined[i]; c != ',' {
			n = n*10 + int64(c-'0')
			continue
		}
		ids = append(ids, n)
		n = 0
	}
	return append(ids, n)
}
