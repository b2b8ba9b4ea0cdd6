package sqlite

import (
	"context"
	"slices"

	"strandline/internal/archive"
)

// VectorScope returns the test which passages, by their numbers, a query's
// filters may let through; nil if all. What only the rows tell (time, lines,
// branches left behind, places shared with a fork) HitsOf decides.
func (s *Store) VectorScope(ctx context.Context, q archive.Query) (keep func(passage int64) bool, err error) {
	err = s.read(ctx, "search", func(ctx context.Context) error {
		names, err := s.projectNames(ctx)
		if err != nil {
			return err
		}
		x, err := s.newScope(ctx, &q, names)
		if err != nil {
			return err
		}
		if x.sessions == nil && x.kinds == nil && x.agents {
			return nil
		}
		keep = x.test()
		return nil
	})
	return keep, err
}

// test makes a function of the scope that is fast enough for a million numbers.
func (x *scope) test() func(int64) bool {
	var kinds [1 << kindBits]bool
	for code := range kinds {
		kinds[code] = x.kinds == nil || x.kinds[int64(code)]
	}
	var in []bool // by session number
	first := docID(x.lo).session()
	if x.sessions != nil {
		if len(x.sessions) == 0 {
			return func(int64) bool { return false }
		}
		in = make([]bool, docID(x.hi).session()-first+1)
		for no := range x.sessions {
			in[no-first] = true
		}
	}
	return func(passage int64) bool {
		id := docID(passage)
		if !kinds[id.kindCode()] || id.agent() && !x.agents {
			return false
		}
		if in == nil {
			return true
		}
		at := id.session() - first
		return at >= 0 && at < int64(len(in)) && in[at]
	}
}

// HitsOf returns the passages with these numbers that exist and that the query's
// filters let through, in the order of the numbers. Terms and Limit of the query
// are not looked at, and scores are 0.
func (s *Store) HitsOf(ctx context.Context, q archive.Query, passages []int64) (hits []archive.Hit, err error) {
	err = s.read(ctx, "search", func(calm context.Context) error {
		x := searcher{s: s, q: &q, ctx: ctx}
		if x.names, err = s.projectNames(calm); err != nil {
			return err
		}
		if x.scope, err = s.newScope(calm, &q, x.names); err != nil {
			return err
		}
		found, err := x.byNumber(calm, passages)
		if err != nil {
			return err
		}
		q.Limit = len(found)
		hits, err = x.hits(calm, found)
		for i := range hits {
			hits[i].Score = 0
		}
		return err
	})
	return hits, err
}

// byNumber reads passages and gives each the score that keeps their order.
func (x *searcher) byNumber(ctx context.Context, passages []int64) (found []scoredHit, err error) {
	rank := make(map[docID]int, len(passages))
	for i, id := range passages {
		if _, ok := rank[docID(id)]; !ok {
			rank[docID(id)] = i
		}
	}
	may := x.scope.test()
	passages = slices.DeleteFunc(slices.Clone(passages), func(id int64) bool { return !may(id) })
	if found, err = x.rows(ctx, passages); err != nil {
		return nil, err
	}
	for i := range found {
		found[i].Score = -float64(rank[found[i].id])
	}
	return found, nil
}
