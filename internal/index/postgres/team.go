package postgres

import (
	"context"
	"fmt"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// Pushed returns the cursors of the author's sessions, by session ID.
func (s *Store) Pushed(ctx context.Context) (map[string]archive.Cursor, error) {
	out := map[string]archive.Cursor{}
	err := s.Read(ctx, "list pushed sessions", func(ctx context.Context, t index.Tx) error {
		const sql = "SELECT s.id, c.generation, c.position, c.line FROM sessions s JOIN cursors c ON c.session = s.no WHERE s.author = ?"
		return t.Query(ctx, sql, []any{s.opt.Author}, func(scan index.Scan) error {
			var c archive.Cursor
			err := scan(&c.Session, &c.Generation, &c.Offset, &c.Line)
			out[c.Session] = c
			return err
		})
	})
	return out, err
}

// Forgotten returns the facts of what any author deleted for good.
func (s *Store) Forgotten(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	return out, s.Read(ctx, "list deleted sessions", func(ctx context.Context, t index.Tx) error {
		return index.AddColumn(ctx, t, out, "SELECT fact FROM forgotten")
	})
}

// belongs selects a session, the runs of its sub-agents and their older generations.
const belongs = "(id = ?1 OR left(id, length(?1) + 1) IN (?1 || '~', ?1 || '@'))"

// Remove deletes the author's session with the runs of its sub-agents and its older
// generations, in one transaction, and returns the number of deleted rows. It fails if
// any row is left. With a fact, the session can never be pushed again. The session of
// another author fails with CodeDenied.
func (s *Store) Remove(ctx context.Context, session, fact string) (gone int64, err error) {
	err = s.write(ctx, "delete a session from the team's archive", func(ctx context.Context, t index.Tx) error {
		all, err := index.Column[int64](ctx, t, "SELECT no FROM sessions WHERE "+belongs+" AND id >= ?1 AND id < ?1 || chr(127) ORDER BY no FOR UPDATE", session)
		if err != nil {
			return err
		}
		var other string
		found, err := t.QueryRow(ctx, "SELECT author FROM sessions WHERE no = ANY(?) AND known AND author <> ? LIMIT 1", []any{all, s.opt.Author}, &other)
		if err != nil {
			return err
		}
		if found {
			return denied(fmt.Sprintf("session %s was pushed by %s", archive.ShortID(session), other), "only the author of a session can delete it")
		}
		if gone, err = deleteRows(ctx, t, session, all); err != nil || fact == "" {
			return err
		}
		_, err = t.Exec(ctx, "INSERT INTO forgotten (fact, author, rows) VALUES (?, ?, ?) ON CONFLICT (fact) DO NOTHING", fact, s.opt.Author, gone)
		return err
	})
	return gone, err
}

// deleteRows deletes the rows of sessions, and checks that none is left.
func deleteRows(ctx context.Context, t index.Tx, session string, nos []int64) (gone int64, err error) {
	remove := func(query string, args ...any) {
		if err == nil {
			var n int64
			n, err = t.Exec(ctx, query, args...)
			gone += n
		}
	}
	ids, err := index.Column[int64](ctx, t, "SELECT id FROM passages WHERE session = ANY(?)", nos)
	if err != nil {
		return 0, err
	}
	if _, err := t.Exec(ctx, dropVectors, ids); err != nil {
		return 0, err
	}
	byNumber := []string{"passages", "postings", "turns", "steps", "calls", "files", "tasks", "compactions", "cursors", "identities", "embedded"}
	for _, table := range byNumber {
		remove("DELETE FROM "+table+" WHERE session = ANY(?)", nos)
	}
	for _, table := range []string{"journal", "hook_summaries", "accesses"} {
		remove("DELETE FROM "+table+" WHERE session_id = ?1 OR left(session_id, length(?1) + 1) = ?1 || '~'", session)
	}
	// If other sessions copied rows from it, its ID stays.
	remove("DELETE FROM sessions s WHERE no = ANY(?) AND NOT EXISTS (SELECT 1 FROM turns WHERE copy_session = s.no) "+
		"AND NOT EXISTS (SELECT 1 FROM steps WHERE copy_session = s.no)", nos)
	if err != nil {
		return 0, err
	}
	if _, err := t.Exec(ctx, clearSessions, nos); err != nil {
		return 0, err
	}
	for _, table := range byNumber {
		left, err := index.Value[int64](ctx, t, "SELECT count(*) FROM "+table+" WHERE session = ANY(?)", nos)
		if err != nil {
			return 0, err
		}
		if left > 0 {
			return 0, &archive.Error{Code: archive.CodeInternal, Msg: fmt.Sprintf("%d rows of session %s are left in %s", left, archive.ShortID(session), table)}
		}
	}
	return gone, nil
}

const (
	dropVectors = "WITH gone AS (DELETE FROM vectors WHERE passage = ANY(?) RETURNING embedder) " +
		"UPDATE embedders e SET held = held - g.n, gone = e.gone + g.n FROM (SELECT embedder, count(*) AS n FROM gone GROUP BY embedder) g WHERE e.no = g.embedder"
	// clearSessions deletes all columns of sessions but the ID.
	clearSessions = "UPDATE sessions SET known = false, held = 0, title = '', cwd = '', branch = '', agent_desc = '', worktree = '', project = 0 WHERE no = ANY(?)"
)
