package sqlite

import (
	"cmp"
	"context"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/store/lexical"
)

// scoredHit is a hit with its number, which orders equals, and the first and the
// last passage of its turn by place.
type scoredHit struct {
	archive.Hit
	id, first, last docID
}

// compareHits orders the better hit first, then the newer one.
func compareHits(x, y scoredHit) int {
	return cmp.Or(cmp.Compare(y.Score, x.Score), y.Time.Compare(x.Time), cmp.Compare(y.id, x.id))
}

// topQuery reads n passages with all that a scoredHit holds of them.
func topQuery(n int) string {
	const place = "SELECT id FROM passages p WHERE p.session = r.session AND p.turn = r.turn ORDER BY "
	return "SELECT " + passageColumns + ", id, coalesce((SELECT dead FROM turns t WHERE t.session = r.session AND t.turn = r.turn), 0), " +
		"(" + place + "step, seq LIMIT 1), (" + place + "step DESC, seq DESC LIMIT 1) FROM passages r WHERE id IN (" + marks(n) + ")"
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
			if err := scanPassage(scan, &h.Passage, &h.id, &dead, &h.first, &h.last); err != nil {
				return err
			}
			if (!dead || x.q.Dead) && x.admits(&h.Passage, h.id) {
				h.ID = int64(h.id)
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

const ownersQuery = "SELECT s.no, s.id, s.worktree, coalesce(p.key, ''), coalesce(p.name, ''), coalesce(p.root, ''), coalesce(p.remote, '') " +
	"FROM sessions s LEFT JOIN projects p ON p.no = s.project WHERE s.no IN (SELECT value FROM json_each(?))"

// hits takes the best of what was scored and adds the session and the project of
// each.
func (x *searcher) hits(ctx context.Context, scored []scoredHit) ([]archive.Hit, error) {
	slices.SortFunc(scored, compareHits)
	scored = scored[:min(x.q.Limit, len(scored))]
	var sessions []int64
	for _, h := range scored {
		if no := h.id.session(); !slices.Contains(sessions, no) {
			sessions = append(sessions, no)
		}
	}
	owners := make(map[int64]archive.Session, len(sessions))
	err := x.s.query(ctx, ownersQuery, []any{numbers(sessions)}, func(scan scanFunc) error {
		var no int64
		var owner archive.Session
		p := &owner.Project
		if err := scan(&no, &owner.ID, &p.Worktree, &p.Key, &p.Name, &p.Root, &p.Remote); err != nil {
			return err
		}
		owner.Project = x.names.resolve(owner.Project)
		owners[no] = owner
		return nil
	})
	out := make([]archive.Hit, len(scored))
	for i, h := range scored {
		owner := owners[h.id.session()]
		h.Session, h.Project = owner.ID, owner.Project
		out[i] = h.Hit
	}
	return out, err
}

// turns adds what the whole turns of hits hold of the terms.
func (x *searcher) turns(lists []lexical.List, scored []scoredHit) {
	known := map[docID]float64{} // by a turn's first passage
	for i := range scored {
		h := &scored[i]
		first, last := min(h.first, h.last), max(h.first, h.last)
		score, ok := known[first]
		if !ok {
			score = shape.Turn(lists, x.scope.size, int64(first), int64(last))
			known[first] = score
		}
		h.Evidence.Turn = score
	}
}
