package sqlite

import (
	"context"
	"errors"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// Search returns the passages that match q best, best first; between equals the
// newer one. It returns none if q has no terms.
func (s *Store) Search(ctx context.Context, q archive.Query) (hits []archive.Hit, err error) {
	if len(q.Terms) == 0 {
		return nil, nil
	}
	err = s.read(ctx, "search", func(calm context.Context) error {
		x, err := s.newSearch(ctx, calm, &q)
		if err == nil {
			hits, err = x.Hits(calm)
		}
		return err
	})
	return hits, err
}

// newSearch makes ready to answer a query. ctx is the caller's, looked at between
// terms; calm is not interrupted.
func (s *Store) newSearch(ctx, calm context.Context, q *archive.Query) (*index.Search, error) {
	x := searcher{s: s, ctx: ctx}
	var err error
	if x.names, err = s.projectNames(calm); err != nil {
		return nil, err
	}
	scope, err := s.newScope(calm, q, x.names)
	return &index.Search{Source: &x, Query: q, Scope: scope, Done: ctx}, err
}

// searcher is what a search asks of an index.
type searcher struct {
	s     *Store
	ctx   context.Context // of the caller
	names *index.Projects
}

// Lists reads which passages hold each term.
func (x *searcher) Lists(ctx context.Context, terms []archive.Term, scope *index.Scope, limit int) ([]index.List, error) {
	if !slices.ContainsFunc(terms, func(t archive.Term) bool { return t.Must }) {
		lists, err := x.listBlocks(ctx, terms, scope, limit)
		if !errors.Is(err, ErrFormat) {
			return lists, err
		}
	}
	return x.listMatches(ctx, terms, scope, limit)
}

// listBlocks reads the lists of terms from the blocks of the full-text index.
func (x *searcher) listBlocks(ctx context.Context, terms []archive.Term, scope *index.Scope, limit int) ([]index.List, error) {
	p, err := x.s.newPostings(ctx, scope.Lo, scope.Hi, limit)
	if err != nil {
		return nil, err
	}
	var words []string
	for _, t := range terms {
		if t.Prefix {
			continue
		}
		for _, form := range forms(t) {
			words = append(words, form, form+index.StrongMark)
		}
	}
	found, err := p.lists(ctx, words)
	if err != nil {
		return nil, err
	}
	lists := make([]index.List, len(terms))
	for i, t := range terms {
		l := index.List{Term: t}
		if t.Prefix {
			if err := x.ctx.Err(); err != nil {
				return nil, err
			}
			if l.Weak, err = p.beginning(ctx, t.Text); err != nil {
				return nil, err
			}
			lists[i] = l
			continue
		}
		for range forms(t) {
			l.Weak, l.Strong = index.Union(l.Weak, found[0]), index.Union(l.Strong, found[1])
			found = found[2:]
		}
		l.Weak, l.Strong = p.newest(l.Weak), p.newest(l.Strong)
		lists[i] = l
	}
	return lists, nil
}

// forms returns a term's word and its other forms.
func forms(t archive.Term) []string { return append([]string{t.Text}, strings.Fields(t.Forms)...) }
