package sqlite

import (
	"context"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// topQuery reads n passages with all that a scoredHit holds of them.
func topQuery(n int) string {
	const place = "SELECT id FROM passages p WHERE p.session = r.session AND p.turn = r.turn ORDER BY "
	return "SELECT " + index.PassageColumns + ", id, coalesce((SELECT dead FROM turns t WHERE t.session = r.session AND t.turn = r.turn), 0), " +
		"(" + place + "step, seq LIMIT 1), (" + place + "step DESC, seq DESC LIMIT 1) FROM passages r WHERE id IN (" + marks(n) + ")"
}

// Rows reads passages by their numbers.
func (x *searcher) Rows(ctx context.Context, ids []int64) (read []index.Scored, err error) {
	err = inChunks(ids, func(chunk []any) error {
		return x.s.query(ctx, topQuery(len(chunk)), chunk, func(scan scanFunc) error {
			var h index.Scored
			err := index.ReadPassage(scan, &h.Passage, &h.ID, &h.Dead, &h.First, &h.Last)
			read = append(read, h)
			return err
		})
	})
	return read, err
}

// Refill reads texts that the index no longer holds from the log.
func (x *searcher) Refill(ctx context.Context, read []index.Scored) error {
	return x.s.refillHits(ctx, read)
}

const ownersQuery = "SELECT s.no, s.id, s.worktree, coalesce(p.key, ''), coalesce(p.name, ''), coalesce(p.root, ''), coalesce(p.remote, '') " +
	"FROM sessions s LEFT JOIN projects p ON p.no = s.project WHERE s.no IN (SELECT value FROM json_each(?))"

// Owners reads the ids and projects of sessions by their numbers.
func (x *searcher) Owners(ctx context.Context, sessions []int64) (map[int64]archive.Session, error) {
	owners := make(map[int64]archive.Session, len(sessions))
	err := x.s.query(ctx, ownersQuery, []any{numbers(sessions)}, func(scan scanFunc) error {
		var no int64
		var owner archive.Session
		p := &owner.Project
		if err := scan(&no, &owner.ID, &p.Worktree, &p.Key, &p.Name, &p.Root, &p.Remote); err != nil {
			return err
		}
		owner.Project = x.names.Resolve(owner.Project)
		owners[no] = owner
		return nil
	})
	return owners, err
}
