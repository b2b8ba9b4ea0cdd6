package sqlite

import (
	"context"
	"fmt"

	"strandline/internal/archive"
	"strandline/internal/index"
)

const resolveQuery = "SELECT id FROM sessions WHERE id >= ? AND id < ? AND known = 1 ORDER BY id"

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
	err = s.read(ctx, "find a session", func(ctx context.Context) error {
		var all []string
		parent := index.Parent(prefix)
		// '~' is the last character that an id may hold, and 7f comes behind it.
		err := s.query(ctx, resolveQuery, []any{parent, parent + "\x7f"}, func(scan scanFunc) error {
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
