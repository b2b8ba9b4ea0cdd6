package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// maxCandidates is how many sessions an ambiguous handle's message names.
const maxCandidates = 8

const resolveQuery = "SELECT id FROM sessions WHERE id >= ? AND id < ? AND known = 1 ORDER BY id"

// Resolve returns the id of the session that the session part of a handle stands
// for: a full id, or a prefix that only one session has. "<prefix>" means a main
// session, "<prefix>~<prefix>" a sub-agent's, "@n" behind either an older
// generation. It fails with CodeInvalid, CodeNotFound, or CodeAmbiguous, whose
// hint lists the candidates.
func (s *Store) Resolve(ctx context.Context, prefix string) (id string, err error) {
	if !validID(prefix) {
		return "", archive.Invalid(fmt.Sprintf("%q is not a session id or the beginning of one", archive.Clip(prefix, 60)),
			"list them with: strandline sessions")
	}
	err = s.read(ctx, "find a session", func(ctx context.Context) error {
		var all []string
		parent := splitID(prefix).parent
		// '~' is the last character that an id may hold, and 7f comes behind it.
		err := s.query(ctx, resolveQuery, []any{parent, parent + "\x7f"}, func(scan scanFunc) error {
			var candidate string
			err := scan(&candidate)
			all = append(all, candidate)
			return err
		})
		if err == nil {
			id, err = choose(prefix, all)
		}
		return err
	})
	return id, err
}

// choose picks the one id that prefix means.
func choose(prefix string, ids []string) (string, error) {
	want := splitID(prefix)
	var fit []string
	for _, id := range ids {
		if id == prefix {
			return id, nil
		}
		if splitID(id).startsWith(want) {
			fit = append(fit, id)
		}
	}
	switch len(fit) {
	case 0:
		return "", unknownSession(prefix)
	case 1:
		return fit[0], nil
	}
	more := ""
	if n := len(fit) - maxCandidates; n > 0 {
		fit, more = fit[:maxCandidates], fmt.Sprintf(" and %d more", n)
	}
	return "", &archive.Error{
		Code: archive.CodeAmbiguous,
		Msg:  fmt.Sprintf("more than one session begins with %q", archive.Clip(prefix, 60)),
		Hint: "write more of the id: " + strings.Join(shortened(fit), ", ") + more,
	}
}

// shortened returns ids as handles write them, if that tells them apart.
func shortened(ids []string) []string {
	short := make([]string, len(ids))
	for i, id := range ids {
		short[i] = archive.ShortID(id)
		if slices.Contains(short[:i], short[i]) {
			return ids
		}
	}
	return short
}

type idParts struct{ parent, agent, generation string }

func splitID(id string) (p idParts) {
	id, p.generation, _ = strings.Cut(id, "@")
	p.parent, p.agent, _ = strings.Cut(id, "~")
	return p
}

// startsWith reports whether an id may be meant by the parts that were typed.
func (p idParts) startsWith(typed idParts) bool {
	return p.generation == typed.generation &&
		(p.agent == "") == (typed.agent == "") &&
		strings.HasPrefix(p.parent, typed.parent) && strings.HasPrefix(p.agent, typed.agent)
}
