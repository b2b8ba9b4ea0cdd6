package sqlite

import (
	"context"
	"maps"
	"slices"
	"strandline/internal/index"
)

// A beginning such as "pars" stands for all words that begin so, of which a large
// archive has thousands. FTS5 merges their lists one after the other, each time
// through all that it has so far; here each rowid is looked at once.

// aboveAll is a byte that no word holds, so that a prefix with it behind lies above
// all words that begin with the prefix.
const aboveAll = "\xff"

// gathering is the rowids of several words, of which the newest count.
type gathering struct {
	*postings
	key  []byte // what the words begin with
	ids  map[int64]struct{}
	lo   int64 // none below counts any more
	list []int64
}

// beginning returns the rowids of the rows that hold a word which begins with
// prefix, ascending and each once.
func (p *postings) prefix(ctx context.Context, prefix string) ([]int64, error) {
	if len(p.segments) == 0 {
		return nil, nil
	}
	leaves, err := p.leaves(ctx, []string{prefix})
	if err != nil {
		return nil, err
	}
	g := gathering{postings: p, key: Key(prefix), ids: map[int64]struct{}{}, lo: p.lo}
	for i, seg := range p.segments {
		if err := g.segment(ctx, i, max(leaves[i], seg.First)); err != nil {
			return nil, err
		}
	}
	return index.Newest(slices.Sorted(maps.Keys(g.ids)), g.limit), nil
}

// segment gathers what stands in a segment, from the leaf on in which the first of
// the words stands if it is there.
func (g *gathering) segment(ctx context.Context, segment int, from int64) error {
	seg := g.segments[segment]
	last := seg.Last
	if _, err := g.s.queryRow(ctx, nextLeafQuery, []any{seg.ID, append(slices.Clip(g.key), aboveAll...)}, &last); err != nil {
		return err
	}
	if seg.Tombstones > 0 { // not while the leaves are read: it is the same statement
		if _, err := g.gone(ctx, segment); err != nil {
			return err
		}
	}
	open := false // whether the list of the word before goes on
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

// add adds a list of a segment, as far as it counts.
func (g *gathering) add(ctx context.Context, segment int, list Doclist) (err error) {
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

// drop drops all but the newest, as many as count.
func (g *gathering) drop() {
	ids := index.Newest(slices.Sorted(maps.Keys(g.ids)), g.limit)
	g.lo = max(g.lo, ids[0])
	clear(g.ids)
	for _, id := range ids {
		g.ids[id] = struct{}{}
	}
}
