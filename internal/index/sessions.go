package index

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
)

const projectSelection = "coalesce(p.key, ''), coalesce(p.name, ''), coalesce(p.root, ''), coalesce(p.remote, '')"

// selectSessions returns the query for sessions that match a condition on s, as
// readSession reads them.
func (s *Store) selectSessions(where string) string {
	return "SELECT s.id, " + s.contributorSelection() + sessionColumns + ", " + projectSelection +
		" FROM sessions s LEFT JOIN projects p ON p.no = s.project WHERE " + where
}

// Session returns a session by its full ID, or an Error with CodeNotFound.
func (s *Store) Session(ctx context.Context, id string) (x archive.Session, err error) {
	found, err := s.sessions(ctx, "read a session", func(*Projects) (string, []any) {
		return s.selectSessions("s.id = ? AND s.known = true"), []any{id}
	})
	switch {
	case err != nil:
		return x, err
	case len(found) == 0:
		return x, fmt.Errorf("read a session: %w", unknownSession(id))
	}
	return found[0], nil
}

// Sessions lists the sessions that pass a filter, newest first.
func (s *Store) Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error) {
	list, err := s.sessions(ctx, "list sessions", func(names *Projects) (string, []any) { return s.sessionsQuery(f, names) })
	if err != nil || !f.Retold {
		return list, err
	}
	retold := map[string]int{}
	err = s.read(ctx, "count copied turns", func(ctx context.Context, tx Tx) error {
		return tx.Query(ctx, "SELECT s.id, r.n FROM ("+retoldTurns+") r JOIN sessions s ON s.no = r.session", nil, func(scan Scan) error {
			var id string
			var n int
			err := scan(&id, &n)
			retold[id] = n
			return err
		})
	})
	for i := range list {
		list[i].Retold = retold[list[i].ID]
	}
	return list, err
}

// retoldTurns counts the copied turns of the sessions that have any.
const retoldTurns = "SELECT session, count(*) AS n FROM turns WHERE copy_session <> 0 GROUP BY session"

func (s *Store) sessions(ctx context.Context, what string, build func(*Projects) (string, []any)) ([]archive.Session, error) {
	return Read(ctx, s.read, what, func(ctx context.Context, tx Tx) ([]archive.Session, error) {
		names, err := readProjects(ctx, tx)
		if err != nil {
			return nil, err
		}
		query, args := build(names)
		return Rows(ctx, tx, query, args, func(scan Scan) (archive.Session, error) { return s.readSession(scan, names) })
	})
}

func (s *Store) sessionsQuery(f archive.SessionFilter, names *Projects) (query string, args []any) {
	where, args := sessionsWhere(f, names)
	where += " ORDER BY s.last DESC, s.id DESC"
	if f.Limit > 0 {
		where += " LIMIT ?"
		args = append(args, f.Limit)
	}
	return s.selectSessions(where), args
}

// sessionsWhere returns the condition of a filter on sessions s, without its limit.
func sessionsWhere(f archive.SessionFilter, names *Projects) (where string, args []any) {
	where = "s.known = true"
	add := func(condition string, values ...any) {
		where += " AND " + condition
		args = append(args, values...)
	}
	if len(f.Projects) > 0 {
		numbers := names.Numbers(f.Projects)
		add("s.project IN ("+Marks(len(numbers))+")", anys(numbers)...)
	}
	if len(f.IDs) > 0 {
		add("s.id IN ("+Marks(len(f.IDs))+")", anys(f.IDs)...)
	}
	if len(f.Branches) > 0 {
		add("s.branch IN ("+Marks(len(f.Branches))+")", anys(f.Branches)...)
	}
	if len(f.Clients) > 0 {
		add("s.client IN ("+Marks(len(f.Clients))+")", anys(f.Clients)...)
	}
	if f.Parent != "" {
		// The partial index is used only if the query repeats its condition.
		add("s.parent_id = ? AND s.parent_id <> ''", f.Parent)
	}
	if !f.Agents {
		add("s.relation <> ?", string(archive.RelationAgent))
	}
	if f.Compacted {
		add("s.compacts > 0")
	}
	if !f.Since.IsZero() {
		add("s.last >= ?", Nanos(f.Since))
	}
	return where, args
}

// readSession reads a row of selectSessions. names resolves its project.
func (s *Store) readSession(scan Scan, names *Projects) (x archive.Session, err error) {
	var known bool
	var project int64
	var p archive.Project
	dest := []any{&x.ID}
	if s.sql.Contributor != nil {
		dest = append(dest, &x.Author, &x.Machine)
	}
	err = scan(append(dest, &known, &x.Client, &project, &p.Worktree, &x.Parent, &x.Relation, &x.Agent.ID, &x.Agent.Type, &x.Agent.Description,
		&x.Cwd, &x.GitBranch, &x.Version, &x.Model, &x.Title, asTime(&x.First), asTime(&x.Last), &x.Generation, &x.Bytes, &x.Lines,
		&x.Turns, &x.Steps, &x.Calls, &x.Compacts, &x.Usage.Input, &x.Usage.Output, &x.Usage.CacheRead, &x.Usage.CacheWrite,
		&x.Cost.USD, &x.Cost.APITime, &x.Cost.Duration, &x.Cost.Turns, &x.Cost.LinesAdded, &x.Cost.LinesGone,
		&p.Key, &p.Name, &p.Root, &p.Remote)...)
	x.Project = names.Resolve(p)
	return x, err
}

// Totals describes the whole archive.
func (s *Store) Totals(ctx context.Context) (t archive.Totals, err error) {
	older := s.sql.Instr + "(id, '@') > 0"
	query := "SELECT count(*) FILTER (WHERE " + older + "), count(*) FILTER (WHERE relation <> 'agent' AND NOT " + older + "), " +
		"count(*) FILTER (WHERE relation = 'agent' AND NOT " + older + "), " +
		"coalesce(sum(turns), 0) - (SELECT count(*) FROM turns WHERE copy_session <> 0), coalesce(sum(steps), 0), coalesce(sum(calls), 0), coalesce(sum(compacts), 0), coalesce(sum(bytes), 0), " +
		"coalesce(sum(input), 0), coalesce(sum(output), 0), coalesce(sum(cache_read), 0), coalesce(sum(cache_write), 0), " +
		"coalesce(sum(cost_usd), 0.0), coalesce(min(first) FILTER (WHERE first <> 0), 0), coalesce(max(last), 0) FROM sessions WHERE known = true"
	err = s.read(ctx, "read totals", func(ctx context.Context, tx Tx) error {
		_, err := tx.QueryRow(ctx, query, nil, &t.Older, &t.Sessions, &t.Agents, &t.Turns, &t.Steps, &t.Calls, &t.Compactions, &t.Bytes,
			&t.Usage.Input, &t.Usage.Output, &t.Usage.CacheRead, &t.Usage.CacheWrite, &t.CostUSD, asTime(&t.First), asTime(&t.Last))
		if err != nil {
			return err
		}
		if t.Passages, err = s.passageCount(ctx, tx); err != nil {
			return err
		}
		projects, err := s.projects(ctx, tx)
		t.Projects = len(projects)
		return err
	})
	return t, err
}

// PassageCount returns the number of passages without counting them.
func (s *Store) PassageCount(ctx context.Context) (int, error) {
	return Read(ctx, s.read, "count passages", s.passageCount)
}

func (s *Store) passageCount(ctx context.Context, tx Tx) (n int, err error) {
	return Value[int](ctx, tx, s.sql.PassageCount)
}

// Known returns the places at which keys were first seen. Unknown keys are left out.
func (s *Store) Known(ctx context.Context, keys []uint64) (map[uint64]archive.Ref, error) {
	known := map[uint64]archive.Ref{}
	if len(keys) == 0 {
		return known, nil
	}
	// Integers in SQL are signed; the bits stay the same.
	signed := archive.Convert(keys, func(k uint64) int64 { return int64(k) })
	err := s.read(ctx, "look up identities", func(ctx context.Context, tx Tx) error {
		return inChunks(s, signed, func(in string, args []any) error {
			query := "SELECT i.key, s.id, i.turn, i.step FROM identities i " + s.sql.Join + " sessions s ON s.no = i.session WHERE i.key" + in
			return tx.Query(ctx, query, args, func(scan Scan) error {
				var key int64
				var ref archive.Ref
				err := scan(&key, &ref.Session, &ref.Turn, &ref.Step)
				known[uint64(key)] = ref
				return err
			})
		})
	})
	return known, err
}

// Cursor returns how far a session is indexed: the zero Cursor if it is not.
func (s *Store) Cursor(ctx context.Context, session string) (c archive.Cursor, err error) {
	query := "SELECT c.generation, c." + s.sql.Offset + ", c.line, c.state FROM sessions s JOIN cursors c ON c.session = s.no WHERE s.id = ?"
	err = s.read(ctx, "read a cursor", func(ctx context.Context, tx Tx) error {
		found, err := tx.QueryRow(ctx, query, []any{session}, &c.Generation, &c.Offset, &c.Line, &c.State)
		if found {
			c.Session = session
		}
		return err
	})
	return c, err
}

// Positions returns the cursors of all indexed sessions by their IDs, without their states.
func (s *Store) Positions(ctx context.Context) (map[string]archive.Cursor, error) {
	query := "SELECT s.id, c.generation, c." + s.sql.Offset + ", c.line FROM cursors c JOIN sessions s ON s.no = c.session"
	all := map[string]archive.Cursor{}
	err := s.read(ctx, "read the cursors", func(ctx context.Context, tx Tx) error {
		return tx.Query(ctx, query, nil, func(scan Scan) error {
			var c archive.Cursor
			err := scan(&c.Session, &c.Generation, &c.Offset, &c.Line)
			all[c.Session] = c
			return err
		})
	})
	return all, err
}

// Retire renames a session to "<session>@<generation>" with all its rows, because
// its transcript was rewritten and a new generation begins under the old name. Facts
// from hooks stay with the name. If the session is unknown, or the generation was
// retired already, nothing changes.
func (s *Store) Retire(ctx context.Context, session string, generation int) error {
	older := fmt.Sprintf("%s@%d", session, generation)
	if !ValidID(older) {
		return invalidSession(session)
	}
	return s.write(ctx, "retire a session", func(ctx context.Context, tx Tx) error {
		var no, from int64
		found, err := tx.QueryRow(ctx, "SELECT no FROM sessions WHERE id = ? AND known = true"+s.sql.ForUpdate, []any{session}, &no)
		if err != nil || !found {
			return err
		}
		var retired bool
		if found, err = tx.QueryRow(ctx, "SELECT no, known FROM sessions WHERE id = ?", []any{older}, &from, &retired); err != nil || retired {
			return err
		}
		if found {
			// Only references use the number of an unknown session, and they mean the
			// session that is renamed now.
			if err := renumber(ctx, tx, from, no); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "UPDATE sessions SET id = ? WHERE no = ?", older, no); err != nil {
			return err
		}
		return moveHookPassages(ctx, tx, session, no)
	})
}

// renumber changes references to an unknown session into references to another one,
// and deletes its number.
func renumber(ctx context.Context, tx Tx, from, to int64) error {
	err := execAll(ctx, tx, []string{
		"UPDATE turns SET copy_session = ? WHERE copy_session = ?",
		"UPDATE steps SET copy_session = ? WHERE copy_session = ?",
		"UPDATE identities SET session = ? WHERE session = ?",
	}, to, from)
	if err == nil {
		_, err = tx.Exec(ctx, "DELETE FROM sessions WHERE no = ?", from)
	}
	return err
}

// Resolve returns the ID of the session that the session part of a handle means: a
// full ID, or a prefix that only one session has. "<prefix>" means a main session,
// "<prefix>~<prefix>" a sub-agent's; "@n" after either means an older generation.
// It fails with CodeInvalid, CodeNotFound, or CodeAmbiguous, whose hint lists the
// candidates.
func (s *Store) Resolve(ctx context.Context, prefix string) (id string, err error) {
	if !ValidID(prefix) {
		return "", archive.Invalid(fmt.Sprintf("%q is not a session ID or the beginning of one", archive.Clip(prefix, 60)),
			"list them with: strandline sessions")
	}
	err = s.read(ctx, "find a session", func(ctx context.Context, tx Tx) error {
		parent := splitID(prefix).parent
		// '~' is the last character of an ID's alphabet, and 0x7f follows it.
		all, err := Column[string](ctx, tx, "SELECT id FROM sessions WHERE id >= ? AND id < ? AND known = true ORDER BY id", parent, parent+"\x7f")
		if err == nil {
			id, err = Choose(prefix, all)
		}
		return err
	})
	return id, err
}

// maxCandidates is the number of sessions that an error about an ambiguous handle
// lists.
const maxCandidates = 8

// Choose returns the only ID that prefix matches.
func Choose(prefix string, ids []string) (string, error) {
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

// shortened returns the short forms of ids that handles use, or ids if two short
// forms are equal.
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

// startsWith reports whether the parts of an ID match the typed parts.
func (p idParts) startsWith(typed idParts) bool {
	return p.generation == typed.generation &&
		(p.agent == "") == (typed.agent == "") &&
		strings.HasPrefix(p.parent, typed.parent) && strings.HasPrefix(p.agent, typed.agent)
}

func unknownSession(id string) error {
	return archive.NotFound(fmt.Sprintf("there is no session %q in the archive", archive.Clip(id, 60)),
		"list them with: strandline sessions")
}
