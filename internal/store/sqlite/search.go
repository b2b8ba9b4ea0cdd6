package sqlite

import (
	"context"
	"slices"
	"strings"

	"strandline/internal/archive"
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
		candidates := x.scope.narrow(lexical.Merge(lists, x.scope.size))
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

const (
	listQuery   = "SELECT group_concat(rowid) FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
	cappedQuery = "SELECT group_concat(rowid) FROM (SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?)"
)

// lists reads which passages hold each term. With limit > 0 it reads at most so
// many of each, and reports whether that cut any short.
func (x *searcher) lists(ctx context.Context, limit int) (lists []lexical.List, capped bool, err error) {
	for i, t := range x.q.Terms {
		if err := x.ctx.Err(); err != nil {
			return nil, false, err
		}
		l := lexical.List{Term: t}
		must := x.required(i)
		if t.Prefix {
			l.Weak, err = x.list(ctx, quote(t.Text)+" *"+must, limit)
		} else {
			strong, weak := forms(t)
			if l.Strong, err = x.list(ctx, strong+must, limit); err == nil {
				l.Weak, err = x.list(ctx, weak+must, limit)
			}
			if t.Forms != "" || t.Kin != "" {
				l.Weak = lexical.Without(l.Weak, l.Strong)
			}
		}
		if err != nil {
			return nil, false, err
		}
		capped = capped || limit > 0 && (len(l.Weak) >= limit || len(l.Strong) >= limit)
		lists = append(lists, l)
	}
	return lists, capped, nil
}

// forms returns the conditions that a term, or another form of it, weighs much
// in a passage, and that it stands there otherwise.
func forms(t archive.Term) (strong, weak string) {
	if t.Forms == "" && t.Kin == "" {
		return quote(t.Text + lexical.StrongMark), quote(t.Text)
	}
	var s, w strings.Builder
	s.WriteString("(" + quote(t.Text+lexical.StrongMark))
	w.WriteString("(" + quote(t.Text))
	for f := range strings.FieldsSeq(t.Forms) {
		s.WriteString(" OR " + quote(f+lexical.StrongMark))
		w.WriteString(" OR " + quote(f))
	}
	for f := range strings.FieldsSeq(t.Kin) {
		w.WriteString(" OR " + quote(f+lexical.StrongMark) + " OR " + quote(f))
	}
	return s.String() + ")", w.String() + ")"
}

// required returns the condition that all Must terms but the one given are there.
func (x *searcher) required(except int) string {
	var b strings.Builder
	for i, t := range x.q.Terms {
		switch {
		case !t.Must || i == except:
		case t.Prefix:
			b.WriteString(" AND " + quote(t.Text) + " *")
		default:
			b.WriteString(" AND (" + quote(t.Text) + " OR " + quote(t.Text+lexical.StrongMark) + ")")
		}
	}
	return b.String()
}

// quote makes a full-text string of a term; what it holds is no operator then.
func quote(term string) string { return `"` + strings.ReplaceAll(term, `"`, `""`) + `"` }

// list returns the passages within the scope's bounds that match, ascending. The
// database answers with one string, which is ten times faster than a row each.
func (x *searcher) list(ctx context.Context, match string, limit int) ([]int64, error) {
	args := []any{match, x.scope.lo, x.scope.hi}
	query := listQuery
	if limit > 0 {
		query, args = cappedQuery, append(args, limit)
	}
	var joined *string
	if _, err := x.s.queryRow(ctx, query, args, &joined); err != nil || joined == nil {
		return nil, err
	}
	ids := make([]int64, 0, len(*joined)/8)
	n := int64(0)
	for i := range len(*joined) {
		if c := (*joined)[i]; c != ',' {
			n = n*10 + int64(c-'0')
			continue
		}
		ids = append(ids, n)
		n = 0
	}
	ids = append(ids, n)
	if limit > 0 {
		slices.Reverse(ids)
	}
	return ids, nil
}

// rank reads the best candidates and scores them by their text, until it has as
// many as are wanted.
func (x *searcher) rank(ctx context.Context, candidates []lexical.Candidate, lists []lexical.List) (scored []scoredHit, err error) {
	ranker := lexical.NewRanker(lists, x.scope.size)
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
	if err := x.turns(ctx, lists, scored); err != nil {
		return nil, err
	}
	all := make([]*archive.Hit, len(scored))
	for i := range scored {
		all[i] = &scored[i].Hit
	}
	lexical.Weigh(all)
	return scored, nil
}
