package sqlite

import (
	"context"
	"maps"
	"slices"

	"strandline/internal/index"
)

// A prefix such as "pars" matches thousands of words in a large archive. FTS5 merges their
// lists one by one and copies the result each time; this code visits each rowid once.

// aboveAll is a byte that no word contains: a prefix followed by it sorts after all words
// with the prefix.
const aboveAll = "\xff"

// collector collects the newest rowids of all words with a prefix.
type collector struct {
	*postings
	key  []byte // the prefix
	ids  map[int64]struct{}
	lo   int64 // smaller rowids are ignored
	list []int64
}

// prefix returns the rowids of the rows with any word that begins with prefix, in
// ascending order and each once.
func (p *postings) prefix(ctx context.Context, prefix string) ([]int64, error) {
	if len(p.segments) == 0 {
		return nil, nil
	}
	leaves, err := p.leaves(ctx, []string{prefix})
	if err != nil {
		return nil, err
	}
	g := collector{postings: p, key: Key(prefix), ids: map[int64]struct{}{}, lo: p.lo}
	for i, seg := range p.segments {
		if err := g.segment(ctx, i, max(leaves[i], seg.First)); err != nil {
			return nil, err
		}
	}
	return index.Newest(slices.Sorted(maps.Keys(g.ids)), g.limit), nil
}

// segment collects the rowids in a segment, starting with the leaf that may hold the first
// of the words.
func (g *collector) segment(ctx context.Context, segment int, from int64) error {
	seg := g.segments[segment]
	last := seg.Last
	if _, err := g.tx.QueryRow(ctx, nextLeafQuery, []any{seg.ID, append(slices.Clip(g.key), aboveAll...)}, &last); err != nil {
		return err
	}
	if seg.Tombstones > 0 { // before the leaves are read by the same statement
		if _, err := g.tombstones(ctx, segment); err != nil {
			return err
		}
	}
	open := false // whether the list of the previous word continues
	return g.blocks(ctx, rangeQuery, []any{seg.Leaf(from), seg.Leaf(last)}, func(_ int64, leaf Leaf) (err error) {
		if open {
			var rest Doclist
			if rest, open, err = leaf.Head(); err != nil {
				return err
			}
			if err := g.add(ctx, segment, rest); err != nil {
				return err
			}
		}
		var failed error
		err = leaf.Begin(g.key, func(_ bool, ids Doclist, more bool) bool {
			open = more
			failed = g.add(ctx, segment, ids)
			return failed == nil
		})
		if failed != nil {
			return failed
		}
		return err
	})
}

// add adds the live rowids of a list of a segment.
func (g *collector) add(ctx context.Context, segment int, list Doclist) (err error) {
	if g.list, err = list.Append(g.list[:0]); err != nil {
		return err
	}
	ids, err := g.live(ctx, segment, g.list, g.lo)
	if err != nil {
		return err
	}
	for _, id := range ids {
		g.ids[id] = struct{}{}
	}
	if g.limit > 0 && len(g.ids) > 2*g.limit {
		g.drop()
	}
	return nil
}

// drop keeps only the newest rowids, up to the limit.
func (g *collector) drop() {
	ids := index.Newest(slices.Sorted(maps.Keys(g.ids)), g.limit)
	g.lo = max(g.lo, ids[0])
	clear(g.ids)
	for _, id := range ids {
		g.ids[id] = struct{}{}
	}
}
