package sqlite

import (
	"cmp"
	"context"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/store/lexical"
)

// scoredHit is a hit with its number, which orders equals.
type scoredHit struct {
	archive.Hit
	id docID
}

// compareHits orders the better hit first, then the newer one.
func compareHits(x, y scoredHit) int {
	return cmp.Or(cmp.Compare(y.Score, x.Score), y.Time.Compare(x.Time), cmp.Compare(y.id, x.id))
}

func topQuery(n int) string {
	return "SELECT " + passageColumns + ", id, coalesce((SELECT dead FROM turns t WHERE t.session = r.session AND t.turn = r.turn), 0) " +
		"FROM passages r WHERE id IN (" + marks(n) + ")"
}

// readTop reads candidates, drops those that the query's filters exclude, and
// appends the others with their scores.
func (x *searcher) readTop(ctx context.Context, top []lexical.Candidate, ranker *lexical.Ranker, scored []scoredHit) ([]scoredHit, error) {
	ids := make([]int64, len(top))
	lifted := make(map[docID]lexical.Candidate, len(top))
	for i, c := range top {
		ids[i] = c.ID
		lifted[docID(c.ID)] = c
	}
	read, err := x.rows(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, h := range read {
		e, c := &h.Evidence, lifted[h.id]
		if *e = ranker.Score(&h.Passage); e.Words > 0 {
			e.Before, e.Session = float64(c.Before), float64(c.Session)
			scored = append(scored, h)
		}
	}
	return scored, nil
}

// rows reads passages without those that the query's filters exclude, in no order
// that is said. Texts that the index no longer holds come from the log.
func (x *searcher) rows(ctx context.Context, ids []int64) (read []scoredHit, err error) {
	err = inChunks(ids, func(chunk []any) error {
		return x.s.query(ctx, topQuery(len(chunk)), chunk, func(scan scanFunc) error {
			var h scoredHit
			var dead bool
			if err := scanPassage(scan, &h.Passage, &h.id, &dead); err != nil {
				return err
			}
			if (!dead || x.q.Dead) && x.admits(&h.Passage, h.id) {
				read = append(read, h)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return read, x.s.refillHits(ctx, read)
}

// admits applies the filters that need the row.
func (x *searcher) admits(p *archive.Passage, id docID) bool {
	if !x.scope.holds(p, id.session()) {
		return false
	}
	if !x.q.Since.IsZero() && p.Time.Before(x.q.Since) || !x.q.Until.IsZero() && !p.Time.Before(x.q.Until) {
		return false
	}
	// A shared passage has the lines of the session that owns it; whether it is
	// early enough was decided when the scope was made.
	own := x.scope.sessions == nil || x.scope.sessions[id.session()]
	return x.q.BeforeLine <= 0 || !own || p.LineFrom >= 0 && p.LineTo <= x.q.BeforeLine
}

const ownerQuery = "SELECT s.id, s.worktree, coalesce(p.key, ''), coalesce(p.name, ''), coalesce(p.root, ''), coalesce(p.remote, '') " +
	"FROM sessions s LEFT JOIN projects p ON p.no = s.project WHERE s.no = ?"

// hits takes the best of what was scored and adds the session and the project of
// each.
func (x *searcher) hits(ctx context.Context, scored []scoredHit) ([]archive.Hit, error) {
	slices.SortFunc(scored, compareHits)
	scored = scored[:min(x.q.Limit, len(scored))]
	out := make([]archive.Hit, 0, len(scored))
	owners := map[int64]archive.Session{}
	for _, h := range scored {
		no := h.id.session()
		owner, ok := owners[no]
		if !ok {
			p := &owner.Project
			if _, err := x.s.queryRow(ctx, ownerQuery, []any{no}, &owner.ID, &p.Worktree, &p.Key, &p.Name, &p.Root, &p.Remote); err != nil {
				return nil, err
			}
			owner.Project = x.names.resolve(owner.Project)
			owners[no] = owner
		}
		h.ID, h.Session, h.Project = int64(h.id), owner.ID, owner.Project
		out = append(out, h.Hit)
	}
	return out, nil
}

// The first and the last passage of a turn by place, which are numbered in the
// order in which they came.
const (
	turnFirstQuery = "SELECT id FROM passages WHERE session = ? AND turn = ? ORDER BY step, seq LIMIT 1"
	turnLastQuery  = "SELECT id FROM passages WHERE session = ? AND turn = ? ORDER BY step DESC, seq DESC LIMIT 1"
)

// turns adds what the whole turns of hits hold of the terms.
func (x *searcher) turns(ctx context.Context, lists []lexical.List, scored []scoredHit) error {
	type place struct {
		session int64
		turn    int
	}
	known := map[place]float64{}
	for i := range scored {
		h := &scored[i]
		at := place{h.id.session(), h.Turn}
		score, ok := known[at]
		if !ok {
			var first, last int64
			if _, err := x.s.queryRow(ctx, turnFirstQuery, []any{at.session, at.turn}, &first); err != nil {
				return err
			}
			if _, err := x.s.queryRow(ctx, turnLastQuery, []any{at.session, at.turn}, &last); err != nil {
				return err
			}
			score = shape.Turn(lists, x.scope.size, min(first, last), max(first, last))
			known[at] = score
		}
		h.Evidence.Turn = score
	}
	return nil
}
