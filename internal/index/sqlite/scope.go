package sqlite

import (
	"context"
	"math"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// newScope finds out where a query looks.
func (s *Store) newScope(ctx context.Context, q *archive.Query, names *index.Projects) (*index.Scope, error) {
	size, err := s.passageCount(ctx)
	if err != nil {
		return nil, err
	}
	x := index.NewScope(q, size)
	for _, id := range q.Sessions {
		if err := s.addSession(ctx, x, q, id); err != nil {
			return nil, err
		}
	}
	if len(q.Projects) > 0 {
		if err := s.narrowToProjects(ctx, x, names.Numbers(q.Projects)); err != nil {
			return nil, err
		}
	}
	x.Bound()
	return x, nil
}

const (
	sharedTurnsQuery = "SELECT copy_session, copy_turn, -1 FROM turns WHERE session = ?1 AND copy_session <> 0 AND copy_session <> ?1 AND line_from < ?2"
	sharedStepsQuery = "SELECT copy_session, copy_turn, copy_step FROM steps WHERE session = ?1 AND copy_session <> 0 AND copy_session <> ?1 AND line_from < ?2"
)

// addSession adds a session and the places that it shares with those it was
// copied from. Only passages of its own are numbered under it.
func (s *Store) addSession(ctx context.Context, x *index.Scope, q *archive.Query, id string) error {
	var no int64
	var size int
	found, err := s.queryRow(ctx, "SELECT no, next_doc FROM sessions WHERE id = ?", []any{id}, &no, &size)
	if err != nil || !found {
		return err
	}
	x.AddSession(no, size)
	before := int64(math.MaxInt64)
	if q.BeforeLine > 0 {
		before = int64(q.BeforeLine)
	}
	for _, query := range []string{sharedTurnsQuery, sharedStepsQuery} {
		err := s.query(ctx, query, []any{no, before}, func(scan scanFunc) error {
			var p index.SharedPlace
			err := scan(&p.Session, &p.Turn, &p.Step)
			x.Share(p)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// narrowToProjects leaves only sessions of these projects.
func (s *Store) narrowToProjects(ctx context.Context, x *index.Scope, projects []int64) error {
	of := map[int64]bool{}
	query := "SELECT no FROM sessions WHERE project IN (" + marks(len(projects)) + ")"
	err := s.query(ctx, query, anys(projects), func(scan scanFunc) error {
		var no int64
		err := scan(&no)
		of[no] = true
		return err
	})
	if err == nil {
		x.Narrow(of)
	}
	return err
}
