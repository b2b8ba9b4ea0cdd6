package sqlite

import (
	"context"

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
		if !x.Everything() {
			keep = x.Test()
		}
		return nil
	})
	return keep, err
}

// HitsOf returns the passages with these numbers that exist and that the query's
// filters let through, in the order of the numbers. Terms and Limit of the query
// are not looked at, and scores are 0.
func (s *Store) HitsOf(ctx context.Context, q archive.Query, passages []int64) (hits []archive.Hit, err error) {
	err = s.read(ctx, "search", func(calm context.Context) error {
		x, err := s.newSearch(ctx, calm, &q)
		if err == nil {
			hits, err = x.Numbered(calm, passages)
		}
		return err
	})
	return hits, err
}
