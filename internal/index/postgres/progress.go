package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// Known returns the places at which those of the keys that are known were first
// seen.
func (s *Store) Known(ctx context.Context, keys []uint64) (map[uint64]archive.Ref, error) {
	known := map[uint64]archive.Ref{}
	if len(keys) == 0 {
		return known, nil
	}
	signed := make([]int64, len(keys))
	for i, k := range keys {
		signed[i] = int64(k)
	}
	err := s.read(ctx, "look up identities", func(ctx context.Context, tx pgx.Tx) error {
		const sql = "SELECT i.key, s.id, i.turn, i.step FROM identities i JOIN sessions s ON s.no = i.session WHERE i.key = ANY($1)"
		return query(ctx, tx, sql, []any{signed}, func(scan scanFunc) error {
			var key int64
			var ref archive.Ref
			err := scan(&key, &ref.Session, &ref.Turn, &ref.Step)
			known[uint64(key)] = ref
			return err
		})
	})
	return known, err
}

// Cursor says how far a session is stored. It is the zero Cursor for a session that
// is not.
func (s *Store) Cursor(ctx context.Context, session string) (archive.Cursor, error) {
	c := archive.Cursor{}
	err := s.read(ctx, "read a cursor", func(ctx context.Context, tx pgx.Tx) error {
		const sql = "SELECT c.generation, c.position, c.line, c.state FROM sessions s JOIN cursors c ON c.session = s.no WHERE s.id = $1"
		found, err := queryRow(ctx, tx, sql, []any{session}, &c.Generation, &c.Offset, &c.Line, &c.State)
		if found {
			c.Session = session
		}
		return err
	})
	return c, err
}

// Retire renames a session to "<session>@<generation>" with all its rows, because
// its transcript was rewritten and a new generation begins under the old name.
// What hooks told about the session stays with the name. Retiring a session that
// is unknown, or a generation that is retired already, changes nothing.
func (s *Store) Retire(ctx context.Context, session string, generation int) error {
	older := fmt.Sprintf("%s@%d", session, generation)
	if !index.ValidID(older) {
		return archive.Invalid(fmt.Sprintf("%q is not a session id", archive.Clip(session, 60)), "")
	}
	return s.write(ctx, "retire a session", func(ctx context.Context, tx pgx.Tx) error {
		var no int64
		found, err := queryRow(ctx, tx, "SELECT no FROM sessions WHERE id = $1 AND known FOR UPDATE", []any{session}, &no)
		if err != nil || !found {
			return err
		}
		var taken bool
		var from int64
		if found, err = queryRow(ctx, tx, "SELECT no, known FROM sessions WHERE id = $1", []any{older}, &from, &taken); err != nil || taken {
			return err
		}
		if found {
			// The name was only spoken of; nothing hangs on its number but references,
			// and those mean the session that is renamed now.
			if err := renumber(ctx, tx, from, no); err != nil {
				return err
			}
		}
		if _, err := exec(ctx, tx, "UPDATE sessions SET id = $1 WHERE no = $2", older, no); err != nil {
			return err
		}
		if err := moveHookSummaries(ctx, tx, session, no); err != nil {
			return err
		}
		return moveSegments(ctx, tx, session, no)
	})
}

// renumber makes what refers to an unknown session refer to another, and removes
// its number.
func renumber(ctx context.Context, tx pgx.Tx, from, to int64) error {
	for _, sql := range []string{
		"UPDATE turns SET copy_session = $1 WHERE copy_session = $2",
		"UPDATE steps SET copy_session = $1 WHERE copy_session = $2",
		"UPDATE identities SET session = $1 WHERE session = $2",
	} {
		if _, err := exec(ctx, tx, sql, to, from); err != nil {
			return err
		}
	}
	_, err := exec(ctx, tx, "DELETE FROM sessions WHERE no = $1", from)
	return err
}
