package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
)

// Pushed says how far the author's sessions have been brought, by their ids.
func (s *Store) Pushed(ctx context.Context) (map[string]archive.Cursor, error) {
	out := map[string]archive.Cursor{}
	err := s.read(ctx, "see what the team's archive has", func(ctx context.Context, tx pgx.Tx) error {
		const sql = "SELECT s.id, c.generation, c.position, c.line FROM sessions s JOIN cursors c ON c.session = s.no WHERE s.author = $1"
		return query(ctx, tx, sql, []any{clean(s.opt.Author)}, func(scan scanFunc) error {
			var c archive.Cursor
			err := scan(&c.Session, &c.Generation, &c.Offset, &c.Line)
			out[c.Session] = c
			return err
		})
	})
	return out, err
}

// Forgotten lists what was deleted for good, by whomever.
func (s *Store) Forgotten(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	err := s.read(ctx, "see what was deleted", func(ctx context.Context, tx pgx.Tx) error {
		return query(ctx, tx, "SELECT fact FROM forgotten", nil, func(scan scanFunc) error {
			var fact string
			err := scan(&fact)
			out[fact] = true
			return err
		})
	})
	return out, err
}

// belongs selects a session, the runs of its sub-agents and older generations.
const belongs = "(id = $1 OR left(id, length($1) + 1) IN ($1 || '~', $1 || '@'))"

// Remove deletes the author's session with the runs of its sub-agents and its older
// generations, in one transaction, and returns how many rows went. It looks for rows
// that are left, and fails if there is one. With a fact it is deleted for good.
// Another author's session is not touched: CodeDenied.
func (s *Store) Remove(ctx context.Context, session, fact string) (gone int64, err error) {
	err = s.write(ctx, "delete a session from the team's archive", func(ctx context.Context, tx pgx.Tx) error {
		gone = 0
		all, err := numbers(ctx, tx, "SELECT no FROM sessions WHERE "+belongs+" AND id >= $1 AND id < $1 || chr(127) ORDER BY no FOR UPDATE", session)
		if err != nil {
			return err
		}
		var other string
		found, err := queryRow(ctx, tx, "SELECT author FROM sessions WHERE no = ANY($1) AND known AND author <> $2 LIMIT 1", []any{all, clean(s.opt.Author)}, &other)
		if err != nil {
			return err
		}
		if found {
			return &archive.Error{Code: archive.CodeDenied, Msg: fmt.Sprintf("session %s was brought by %s", archive.ShortID(session), other),
				Hint: "only who brought a session deletes it"}
		}
		if gone, err = deleteRows(ctx, tx, session, all); err != nil || fact == "" {
			return err
		}
		_, err = exec(ctx, tx, "INSERT INTO forgotten (fact, author, rows) VALUES ($1, $2, $3) ON CONFLICT (fact) DO NOTHING", clean(fact), clean(s.opt.Author), gone)
		return err
	})
	return gone, err
}

// deleteRows deletes all that hangs on sessions, and checks that nothing does any more.
func deleteRows(ctx context.Context, tx pgx.Tx, session string, nos []int64) (gone int64, err error) {
	ids, err := numbers(ctx, tx, "SELECT id FROM passages WHERE session = ANY($1)", nos)
	if err != nil {
		return 0, err
	}
	// Whole sessions: their lists of terms go as they are.
	if _, err := exec(ctx, tx, dropVectors, ids); err != nil {
		return 0, err
	}
	byNumber := []string{"passages", "postings", "turns", "steps", "calls", "files", "tasks", "compactions", "cursors", "identities", "embedded"}
	for _, table := range byNumber {
		n, err := exec(ctx, tx, "DELETE FROM "+table+" WHERE session = ANY($1)", nos)
		if err != nil {
			return 0, err
		}
		gone += n
	}
	byID := []string{"journal", "hook_summaries", "accesses"}
	for _, table := range byID {
		n, err := exec(ctx, tx, "DELETE FROM "+table+" WHERE session_id = $1 OR left(session_id, length($1) + 1) = $1 || '~'", session)
		if err != nil {
			return 0, err
		}
		gone += n
	}
	// Others may have copied rows from it, and then its name stays.
	n, err := exec(ctx, tx, "DELETE FROM sessions s WHERE no = ANY($1) AND NOT EXISTS (SELECT 1 FROM turns WHERE copy_session = s.no) "+
		"AND NOT EXISTS (SELECT 1 FROM steps WHERE copy_session = s.no)", nos)
	if err != nil {
		return 0, err
	}
	gone += n
	if _, err := exec(ctx, tx, forgetNames, nos); err != nil {
		return 0, err
	}
	for _, table := range byNumber {
		var left int64
		if _, err := queryRow(ctx, tx, "SELECT count(*) FROM "+table+" WHERE session = ANY($1)", []any{nos}, &left); err != nil {
			return 0, err
		}
		if left > 0 {
			return 0, &archive.Error{Code: archive.CodeInternal, Msg: fmt.Sprintf("%d rows of session %s are left in %s", left, archive.ShortID(session), table)}
		}
	}
	return gone, nil
}

const (
	dropVectors = "WITH gone AS (DELETE FROM vectors WHERE passage = ANY($1) RETURNING embedder) " +
		"UPDATE embedders e SET held = held - g.n, gone = e.gone + g.n FROM (SELECT embedder, count(*) AS n FROM gone GROUP BY embedder) g WHERE e.no = g.embedder"
	// A name that others refer to says nothing more than that it was one.
	forgetNames = "UPDATE sessions SET known = false, held = 0, title = '', cwd = '', branch = '', agent_desc = '', worktree = '', project = 0 WHERE no = ANY($1)"
)
