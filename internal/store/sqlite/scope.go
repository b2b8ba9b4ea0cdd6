package sqlite

import (
	"context"
	"math"

	"strandline/internal/archive"
	"strandline/internal/store/lexical"
)

// scope is where a query looks, as far as passages' numbers tell.
type scope struct {
	// sessions limits the search unless it is nil; true for those whose passages
	// are all in it, false for those of which shared holds some.
	sessions map[int64]bool
	shared   map[sharedPlace]bool
	kinds    map[int64]bool // nil: all
	agents   bool
	lo, hi   int64 // bounds of the numbers
	size     int   // about how many passages there are to search
}

// sharedPlace is a place in another session that was copied from.
type sharedPlace struct {
	session    int64
	turn, step int
}

func (s *Store) newScope(ctx context.Context, q *archive.Query, names *projectNames) (*scope, error) {
	x := &scope{agents: q.Agents || len(q.Sessions) > 0, hi: math.MaxInt64}
	if len(q.Kinds) > 0 {
		x.kinds = map[int64]bool{}
		for _, k := range q.Kinds {
			x.kinds[kindCode(k)] = true
		}
	}
	var err error
	if x.size, err = s.passageCount(ctx); err != nil {
		return nil, err
	}
	for _, id := range q.Sessions {
		if err := s.addSession(ctx, x, q, id); err != nil {
			return nil, err
		}
	}
	if len(q.Sessions) > 0 && x.sessions == nil {
		x.sessions = map[int64]bool{}
	}
	if len(q.Projects) > 0 {
		if err := s.narrowToProjects(ctx, x, names.numbers(q.Projects)); err != nil {
			return nil, err
		}
	}
	x.bound()
	return x, nil
}

const (
	sharedTurnsQuery = "SELECT copy_session, copy_turn, -1 FROM turns WHERE session = ?1 AND copy_session <> 0 AND copy_session <> ?1 AND line_from < ?2"
	sharedStepsQuery = "SELECT copy_session, copy_turn, copy_step FROM steps WHERE session = ?1 AND copy_session <> 0 AND copy_session <> ?1 AND line_from < ?2"
)

// addSession adds a session and the places that it shares with those it was
// copied from. Only passages of its own are numbered under it.
func (s *Store) addSession(ctx context.Context, x *scope, q *archive.Query, id string) error {
	var no, size int64
	found, err := s.queryRow(ctx, "SELECT no, next_doc FROM sessions WHERE id = ?", []any{id}, &no, &size)
	if err != nil || !found {
		return err
	}
	if x.sessions == nil {
		x.sessions, x.shared, x.size = map[int64]bool{}, map[sharedPlace]bool{}, 0
	}
	x.sessions[no] = true
	x.size += int(size)
	before := int64(math.MaxInt64)
	if q.BeforeLine > 0 {
		before = int64(q.BeforeLine)
	}
	for _, query := range []string{sharedTurnsQuery, sharedStepsQuery} {
		err := s.query(ctx, query, []any{no, before}, func(scan scanFunc) error {
			var p sharedPlace
			if err := scan(&p.session, &p.turn, &p.step); err != nil {
				return err
			}
			x.shared[p] = true
			if !x.sessions[p.session] {
				x.sessions[p.session] = false
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// narrowToProjects leaves only sessions of these projects.
func (s *Store) narrowToProjects(ctx context.Context, x *scope, projects []int64) error {
	of := map[int64]bool{}
	query := "SELECT no FROM sessions WHERE project IN (" + marks(len(projects)) + ")"
	err := s.query(ctx, query, anys(projects), func(scan scanFunc) error {
		var no int64
		err := scan(&no)
		of[no] = true
		return err
	})
	if err != nil {
		return err
	}
	if x.sessions == nil {
		x.sessions = of
		return nil
	}
	for no := range x.sessions {
		if !of[no] {
			delete(x.sessions, no)
		}
	}
	return nil
}

// bound sets the range of numbers that the sessions span.
func (x *scope) bound() {
	if len(x.sessions) == 0 {
		return
	}
	first, last := int64(math.MaxInt64), int64(0)
	for no := range x.sessions {
		first, last = min(first, no), max(last, no)
	}
	x.lo, _ = sessionRange(first)
	_, x.hi = sessionRange(last)
}

func (x *scope) empty() bool { return x.sessions != nil && len(x.sessions) == 0 }

// narrow drops candidates outside the scope and weighs the others by their kind.
// It reuses c.
func (x *scope) narrow(c []lexical.Candidate) []lexical.Candidate {
	var weights [1 << kindBits]float32
	for code := range weights {
		weights[code] = float32(lexical.KindWeight(kindOf(int64(code))))
	}
	kept := c[:0]
	for _, candidate := range c {
		id := docID(candidate.ID)
		code := id.kindCode()
		if x.kinds != nil && !x.kinds[code] || id.agent() && !x.agents {
			continue
		}
		if x.sessions != nil {
			if _, ok := x.sessions[id.session()]; !ok {
				continue
			}
		}
		candidate.Score *= weights[code]
		kept = append(kept, candidate)
	}
	return kept
}

// holds reports whether a passage within the scope's sessions is part of it.
func (x *scope) holds(p *archive.Passage, session int64) bool {
	if x.sessions == nil || x.sessions[session] || x.shared == nil {
		return true
	}
	return x.shared[sharedPlace{session, p.Turn, p.Step}]
}
