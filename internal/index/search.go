package index

import (
	"cmp"
	"context"
	"slices"

	"strandline/internal/archive"
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

// Source is what a search asks of a store.
type Source interface {
	// Lists says which passages hold each of the terms, within the bounds of the
	// scope. Where terms must be there, passages without them may be left out. With
	// limit > 0 each list has at most so many, the newest.
	Lists(ctx context.Context, terms []archive.Term, scope *Scope, limit int) ([]List, error)
	// Rows reads passages by their numbers, in no order that is said.
	Rows(ctx context.Context, ids []int64) ([]Scored, error)
	// Refill reads texts that the rows do not hold.
	Refill(ctx context.Context, rows []Scored) error
	// Owners reads the ids and projects of sessions by their numbers.
	Owners(ctx context.Context, sessions []int64) (map[int64]archive.Session, error)
}

// Scored is a hit with its number, which orders equals, and the first and the last
// passage of its turn by place.
type Scored struct {
	archive.Hit
	ID, First, Last ID
	Dead            bool // of a turn that a rewind left behind
}

// compareScored orders the better hit first, then the newer one.
func compareScored(x, y Scored) int {
	return cmp.Or(cmp.Compare(y.Score, x.Score), y.Time.Compare(x.Time), cmp.Compare(y.ID, x.ID))
}

// Search answers a query within a scope.
type Search struct {
	Source Source
	Query  *archive.Query
	Scope  *Scope
	// Done is looked at between steps; the calls to Source have a context of their
	// own, which may be one that is not interrupted.
	Done context.Context //nolint:containedctx // of one call, like the whole value
}

// Hits returns the passages that match best, best first; between equals the newer
// one.
func (x *Search) Hits(ctx context.Context) ([]archive.Hit, error) {
	if x.Query.Limit <= 0 {
		x.Query.Limit = defaultLimit
	}
	if len(x.Query.Terms) == 0 || x.Scope.Empty() {
		return nil, nil
	}
	for limit := listCap; ; limit = 0 {
		lists, err := x.Source.Lists(ctx, x.Query.Terms, x.Scope, limit)
		if err != nil {
			return nil, err
		}
		capped := false
		for i := range lists {
			l := &lists[i]
			capped = capped || limit > 0 && (len(l.Weak) >= limit || len(l.Strong) >= limit)
			if l.Term.Forms != "" {
				l.Weak = Without(l.Weak, l.Strong)
			}
		}
		candidates := x.Scope.keep(IDShape().Merge(lists, x.Scope.Size))
		IDShape().Lift(candidates, lists, x.Scope.Size)
		scored, err := x.rank(ctx, candidates, lists)
		if err != nil {
			return nil, err
		}
		if !capped || len(scored) >= x.wanted() {
			return x.owned(ctx, scored)
		}
	}
}

// wanted is how many passages the query's hits are chosen from.
func (x *Search) wanted() int { return max(readAtLeast, readPerHit*x.Query.Limit) }

// rank reads the best candidates and scores them by their text, until it has as
// many as are wanted.
func (x *Search) rank(ctx context.Context, candidates []Candidate, lists []List) (scored []Scored, err error) {
	ranker := NewRanker(lists, x.Scope.Size, x.Query.Asks)
	for read := x.wanted(); len(candidates) > 0 && len(scored) < x.wanted(); read *= 2 {
		if err := x.Done.Err(); err != nil {
			return nil, err
		}
		top := Top(candidates, read)
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
	IDShape().Follow(all)
	Weigh(all)
	return scored, nil
}

// readTop reads candidates, drops those that the query's filters exclude, and
// appends the others with their scores.
func (x *Search) readTop(ctx context.Context, top []Candidate, ranker *Ranker, scored []Scored) ([]Scored, error) {
	ids := make([]int64, len(top))
	lifted := make(map[ID]Candidate, len(top))
	for i, c := range top {
		ids[i] = c.ID
		lifted[ID(c.ID)] = c
	}
	read, err := x.rows(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, h := range read {
		e, c := &h.Evidence, lifted[h.ID]
		if *e = ranker.Score(&h.Passage); e.Words > 0 {
			e.Before, e.Session = float64(c.Before), float64(c.Session)
			scored = append(scored, h)
		}
	}
	return scored, nil
}

// rows reads passages without those that the query's filters exclude.
func (x *Search) rows(ctx context.Context, ids []int64) ([]Scored, error) {
	read, err := x.Source.Rows(ctx, ids)
	if err != nil {
		return nil, err
	}
	kept := read[:0]
	for _, h := range read {
		if (!h.Dead || x.Query.Dead) && x.Scope.Admits(x.Query, &h.Passage, h.ID) {
			h.Hit.ID = int64(h.ID)
			kept = append(kept, h)
		}
	}
	return kept, x.Source.Refill(ctx, kept)
}

// turns adds what the whole turns of hits hold of the terms.
func (x *Search) turns(lists []List, scored []Scored) {
	known := map[ID]float64{} // by a turn's first passage
	for i := range scored {
		h := &scored[i]
		first, last := min(h.First, h.Last), max(h.First, h.Last)
		score, ok := known[first]
		if !ok {
			score = IDShape().Turn(lists, x.Scope.Size, int64(first), int64(last))
			known[first] = score
		}
		h.Evidence.Turn = score
	}
}

// owned takes the best of what was scored and adds the session and the project of
// each.
func (x *Search) owned(ctx context.Context, scored []Scored) ([]archive.Hit, error) {
	slices.SortFunc(scored, compareScored)
	scored = scored[:min(x.Query.Limit, len(scored))]
	var sessions []int64
	for _, h := range scored {
		if no := h.ID.Session(); !slices.Contains(sessions, no) {
			sessions = append(sessions, no)
		}
	}
	owners, err := x.Source.Owners(ctx, sessions)
	out := make([]archive.Hit, len(scored))
	for i, h := range scored {
		owner := owners[h.ID.Session()]
		h.Session, h.Project, h.Author = owner.ID, owner.Project, owner.Author
		out[i] = h.Hit
	}
	return out, err
}

// Numbered returns the passages with these numbers that exist and that the query's
// filters let through, in the order of the numbers and with scores of 0. Terms and
// Limit of the query are not looked at.
func (x *Search) Numbered(ctx context.Context, passages []int64) ([]archive.Hit, error) {
	rank := make(map[ID]int, len(passages))
	for i, id := range passages {
		if _, ok := rank[ID(id)]; !ok {
			rank[ID(id)] = i
		}
	}
	may := x.Scope.Test()
	passages = slices.DeleteFunc(slices.Clone(passages), func(id int64) bool { return !may(id) })
	found, err := x.rows(ctx, passages)
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i].Score = -float64(rank[found[i].ID])
	}
	x.Query.Limit = len(found)
	hits, err := x.owned(ctx, found)
	for i := range hits {
		hits[i].Score = 0
	}
	return hits, err
}
