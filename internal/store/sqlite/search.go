package sqlite

import (
	"context"
	"errors"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/store/fts5"
	"strandline/internal/store/lexical"
)

const (
	defaultLimit = 10
	// listCap is how many passages of one term are looked at first, the newest.
	// A term that more of them hold selects little; the ranking of what the
	// other terms find reads the text and so counts it in full.
	listCap = 8_000
	// Candidates that are read and scored for each hit, and at least.
	readPerHit  = 1
	readAtLeast = 48
)

// Search returns the passages that match q best, best first; between equals the
// newer one. It returns none if q has no terms.
func (s *Store) Search(ctx context.Context, q archive.Query) (hits []archive.Hit, err error) {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	if len(q.Terms) == 0 {
		return nil, nil
	}
	err = s.read(ctx, "search", func(calm context.Context) error {
		search := searcher{s: s, q: &q, ctx: ctx}
		hits, err = search.run(calm)
		return err
	})
	return hits, err
}

// searcher answers one query.
type searcher struct {
	s     *Store
	q     *archive.Query
	ctx   context.Context // of the caller, looked at between terms
	names *projectNames
	scope *scope
}

func (x *searcher) run(ctx context.Context) (hits []archive.Hit, err error) {
	if x.names, err = x.s.projectNames(ctx); err != nil {
		return nil, err
	}
	if x.scope, err = x.s.newScope(ctx, x.q, x.names); err != nil || x.scope.empty() {
		return nil, err
	}
	for limit := listCap; ; limit = 0 {
		lists, capped, err := x.lists(ctx, limit)
		if err != nil {
			return nil, err
		}
		candidates := x.scope.narrow(shape.Merge(lists, x.scope.size))
		shape.Lift(candidates, lists, x.scope.size)
		scored, err := x.rank(ctx, candidates, lists)
		if err != nil {
			return nil, err
		}
		if !capped || len(scored) >= x.wanted() {
			return x.hits(ctx, scored)
		}
	}
}

// wanted is how many passages the query's hits are chosen from.
func (x *searcher) wanted() int { return max(readAtLeast, readPerHit*x.q.Limit) }

// lists reads which passages hold each term. With limit > 0 it reads at most so
// many of each, and reports whether that cut any short.
func (x *searcher) lists(ctx context.Context, limit int) (lists []lexical.List, capped bool, err error) {
	words := !slices.ContainsFunc(x.q.Terms, func(t archive.Term) bool { return t.Prefix || t.Must })
	if words {
		lists, err = x.listBlocks(ctx, limit)
	}
	if !words || errors.Is(err, fts5.ErrFormat) {
		lists, err = x.listMatches(ctx, limit)
	}
	if err != nil {
		return nil, false, err
	}
	for i := range lists {
		l := &lists[i]
		capped = capped || limit > 0 && (len(l.Weak) >= limit || len(l.Strong) >= limit)
		if l.Term.Forms != "" {
			l.Weak = lexical.Without(l.Weak, l.Strong)
		}
	}
	return lists, capped, nil
}

// listBlocks reads the lists of terms that are whole words from the blocks of the
// full-text index.
func (x *searcher) listBlocks(ctx context.Context, limit int) ([]lexical.List, error) {
	p, err := x.s.newPostings(ctx, x.scope.lo, x.scope.hi, limit)
	if err != nil {
		return nil, err
	}
	var words []string
	for _, t := range x.q.Terms {
		for _, form := range forms(t) {
			words = append(words, form, form+lexical.StrongMark)
		}
	}
	found, err := p.lists(ctx, words)
	if err != nil {
		return nil, err
	}
	lists := make([]lexical.List, len(x.q.Terms))
	for i, t := range x.q.Terms {
		l := lexical.List{Term: t}
		for range forms(t) {
			l.Weak, l.Strong = lexical.Union(l.Weak, found[0]), lexical.Union(l.Strong, found[1])
			found = found[2:]
		}
		l.Weak, l.Strong = p.newest(l.Weak), p.newest(l.Strong)
		lists[i] = l
	}
	return lists, nil
}

// forms returns a term's word and its other forms.
func forms(t archive.Term) []string { return append([]string{t.Text}, strings.Fields(t.Forms)...) }

// rank reads the best candidates and scores them by their text, until it has as
// many as are wanted.
func (x *searcher) rank(ctx context.Context, candidates []lexical.Candidate, lists []lexical.List) (scored []scoredHit, err error) {
	ranker := lexical.NewRanker(lists, x.scope.size, x.q.Asks)
	for read := x.wanted(); len(candidates) > 0 && len(scored) < x.wanted(); read *= 2 {
		if err := x.ctx.Err(); err != nil {
			return nil, err
		}
		top := lexical.Top(candidates, read)
		candidates = candidates[len(top):]
		if scored, err = x.readTop(ctx, top, ranker, scored); err != nil {
			return nil, err
		}
	}
	x.turns(lists, scored)
	all := make([]*archive.Hit, len(scored))
	for i := range scored {
		all[i] = &scored[i].Hit
	}
	shape.Follow(all)
	lexical.Weigh(all)
	return scored, nil
}
