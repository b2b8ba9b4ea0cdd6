package sqlite

import (
	"context"
	"errors"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// Lists reads the passages that hold each term.
func (t tx) Lists(ctx context.Context, terms []archive.Term, scope *index.Scope, limit int) ([]index.List, error) {
	if !slices.ContainsFunc(terms, func(w archive.Term) bool { return w.Must }) {
		lists, err := t.listBlocks(ctx, terms, scope, limit)
		if !errors.Is(err, ErrFormat) {
			return lists, err
		}
	}
	return t.listMatches(ctx, terms, scope, limit)
}

// listBlocks reads the lists of terms from the blocks of the full-text index.
func (t tx) listBlocks(ctx context.Context, terms []archive.Term, scope *index.Scope, limit int) ([]index.List, error) {
	p, err := t.newPostings(ctx, scope.Lo, scope.Hi, limit)
	if err != nil {
		return nil, err
	}
	var words []string
	for _, term := range terms {
		if term.Prefix {
			continue
		}
		for _, form := range index.Forms(term) {
			words = append(words, form, form+index.StrongMark)
		}
	}
	found, err := p.lists(ctx, words)
	if err != nil {
		return nil, err
	}
	lists := make([]index.List, len(terms))
	for i, term := range terms {
		l := index.List{Term: term}
		if term.Prefix {
			if err := t.done.Err(); err != nil {
				return nil, err
			}
			if l.Weak, err = p.prefix(ctx, term.Text); err != nil {
				return nil, err
			}
			lists[i] = l
			continue
		}
		for range index.Forms(term) {
			l.Weak, l.Strong = index.Union(l.Weak, found[0]), index.Union(l.Strong, found[1])
			found = found[2:]
		}
		l.Weak, l.Strong = index.Newest(l.Weak, limit), index.Newest(l.Strong, limit)
		lists[i] = l
	}
	return lists, nil
}
