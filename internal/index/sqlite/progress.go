package sqlite

import (
	"context"
	"fmt"

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
		signed[i] = int64(k) // SQLite's integers are signed; the bits stay the same
	}
	err := s.read(ctx, "look up identities", func(ctx context.Context) error {
		return inChunks(signed, func(chunk []any) error {
			return s.query(ctx, knownQuery(len(chunk)), chunk, func(scan scanFunc) error {
				var key int64
				var ref archive.Ref
				if err := scan(&key, &ref.Session, &ref.Turn, &ref.Step); err != nil {
					return err
				}
				known[uint64(key)] = ref
				return nil
			})
		})
	})
	return known, err
}

func knownQuery(n int) string {
	return "SELECT i.key, s.id, i.turn, i.step FROM identities i CROSS JOIN sessions s ON s.no = i.session WHERE i.key IN (" + marks(n) + ")"
}

const cursorQuery = "SELECT c.generation, c.offset, c.line, c.state FROM sessions s JOIN cursors c ON c.session = s.no WHERE s.id = ?"

// Cursor says how far a session is indexed. It is the zero Cursor for a session
// that is not.
func (s *Store) Cursor(ctx context.Context, session string) (archive.Cursor, error) {
	c := archive.Cursor{}
	err := s.read(ctx, "read a cursor", func(ctx context.Context) error {
		found, err := s.queryRow(ctx, cursorQuery, []any{session}, &c.Generation, &c.Offset, &c.Line, &c.State)
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
	return s.write(ctx, "retire a session", func(ctx context.Context) error {
		var no int64
		found, err := s.queryRow(ctx, "SELECT no FROM sessions WHERE id = ? AND known = 1", []any{session}, &no)
		if err != nil || !found {
			return err
		}
		var taken int
		if found, err = s.queryRow(ctx, "SELECT known FROM sessions WHERE id = ?", []any{older}, &taken); err != nil || taken == 1 {
			return err
		}
		if found {
			// The name was only spoken of; nothing hangs on its number but references,
			// and those mean the session that is renamed now.
			if err := s.renumber(ctx, older, no); err != nil {
				return err
			}
		}
		if _, err := s.exec(ctx, "UPDATE sessions SET id = ? WHERE no = ?", older, no); err != nil {
			return err
		}
		if err := s.moveHookSummaries(ctx, session, no); err != nil {
			return err
		}
		return s.moveSegments(ctx, session, no)
	})
}

// renumber makes what refers to the unknown session id refer to another, and
// removes its number.
func (s *Store) renumber(ctx context.Context, id string, to int64) error {
	from, err := s.number(ctx, id)
	if err != nil {
		return err
	}
	for _, query := range []string{
		"UPDATE turns SET copy_session = ? WHERE copy_session = ?",
		"UPDATE steps SET copy_session = ? WHERE copy_session = ?",
		"UPDATE identities SET session = ? WHERE session = ?",
	} {
		if _, err := s.exec(ctx, query, to, from); err != nil {
			return err
		}
	}
	_, err = s.exec(ctx, "DELETE FROM sessions WHERE no = ?", from)
	return err
}
