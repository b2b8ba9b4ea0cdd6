package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// Resolve returns the id of the session that the session part of a handle stands
// for: a full id, or a prefix that only one session has. "<prefix>" means a main
// session, "<prefix>~<prefix>" a sub-agent's, "@n" behind either an older
// generation. It fails with CodeInvalid, CodeNotFound, or CodeAmbiguous, whose
// hint lists the candidates.
func (s *Store) Resolve(ctx context.Context, prefix string) (id string, err error) {
	if !index.ValidID(prefix) {
		return "", archive.Invalid(fmt.Sprintf("%q is not a session id or the beginning of one", archive.Clip(prefix, 60)),
			"list them with: strandline sessions")
	}
	err = s.read(ctx, "find a session", func(ctx context.Context, tx pgx.Tx) error {
		var all []string
		parent := index.Parent(prefix)
		// '~' is the last character that an id may hold, and 7f comes behind it.
		const sql = "SELECT id FROM sessions WHERE id >= $1 AND id < $2 AND known ORDER BY id"
		err := query(ctx, tx, sql, []any{parent, parent + "\x7f"}, func(scan scanFunc) error {
			var candidate string
			err := scan(&candidate)
			all = append(all, candidate)
			return err
		})
		if err == nil {
			id, err = index.Choose(prefix, all)
		}
		return err
	})
	return id, err
}
