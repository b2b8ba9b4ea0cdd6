package postgres

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
	"strandline/internal/index"
)

const sessionSelect = "SELECT s.id, s.author, s.machine, " + sessionColumns + ", coalesce(p.key, ''), coalesce(p.name, ''), coalesce(p.root, ''), coalesce(p.remote, '') " +
	"FROM sessions s LEFT JOIN projects p ON p.no = s.project "

// Session returns a session by its full id, or an Error with CodeNotFound.
func (s *Store) Session(ctx context.Context, id string) (x archive.Session, err error) {
	err = s.read(ctx, "read a session", func(ctx context.Context, tx pgx.Tx) error {
		names, err := projectNames(ctx, tx)
		if err != nil {
			return err
		}
		found := false
		err = query(ctx, tx, sessionSelect+"WHERE s.id = $1 AND s.known", []any{id}, func(scan scanFunc) error {
			found = true
			x, err = scanSession(scan, names)
			return err
		})
		if err == nil && !found {
			return index.UnknownSession(id)
		}
		return err
	})
	return x, err
}

// Sessions lists the sessions that f selects, newest first.
func (s *Store) Sessions(ctx context.Context, f archive.SessionFilter) (out []archive.Session, err error) {
	err = s.read(ctx, "list sessions", func(ctx context.Context, tx pgx.Tx) error {
		names, err := projectNames(ctx, tx)
		if err != nil {
			return err
		}
		sql, args := sessionsQuery(f, names)
		return query(ctx, tx, sql, args, func(scan scanFunc) error {
			x, err := scanSession(scan, names)
			out = append(out, x)
			return err
		})
	})
	return out, err
}

func sessionsQuery(f archive.SessionFilter, names *index.Projects) (sql string, args []any) {
	var w strings.Builder
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	w.WriteString(sessionSelect + "WHERE s.known")
	if len(f.Projects) > 0 {
		w.WriteString(" AND s.project = ANY(" + arg(names.Numbers(f.Projects)) + ")")
	}
	if f.Parent != "" {
		// The partial index is only used if the query repeats its condition.
		w.WriteString(" AND s.parent_id = " + arg(f.Parent) + " AND s.parent_id <> ''")
	}
	if !f.Agents {
		w.WriteString(" AND s.relation <> " + arg(string(archive.RelationAgent)))
	}
	if !f.Since.IsZero() {
		w.WriteString(" AND s.last >= " + arg(index.Nanos(f.Since)))
	}
	w.WriteString(" ORDER BY s.last DESC, s.id DESC")
	if f.Limit > 0 {
		w.WriteString(" LIMIT " + arg(f.Limit))
	}
	return w.String(), args
}

func scanSession(scan scanFunc, names *index.Projects) (x archive.Session, err error) {
	var known bool
	err = index.ReadSession(scan, names, &x, &x.Author, &x.Machine, &known)
	return x, err
}

// Totals describes the whole archive.
func (s *Store) Totals(ctx context.Context) (t archive.Totals, err error) {
	const sql = "SELECT count(*) FILTER (WHERE strpos(id, '@') > 0), count(*) FILTER (WHERE relation <> 'agent' AND strpos(id, '@') = 0), " +
		"count(*) FILTER (WHERE relation = 'agent' AND strpos(id, '@') = 0), " +
		"coalesce(sum(turns), 0)::bigint, coalesce(sum(steps), 0)::bigint, coalesce(sum(calls), 0)::bigint, coalesce(sum(compacts), 0)::bigint, coalesce(sum(bytes), 0)::bigint, " +
		"coalesce(sum(input), 0)::bigint, coalesce(sum(output), 0)::bigint, coalesce(sum(cache_read), 0)::bigint, coalesce(sum(cache_write), 0)::bigint, " +
		"coalesce(sum(cost_usd), 0.0), coalesce(min(first) FILTER (WHERE first <> 0), 0), coalesce(max(last), 0) FROM sessions WHERE known"
	err = s.read(ctx, "read totals", func(ctx context.Context, tx pgx.Tx) error {
		var first, last int64
		_, err := queryRow(ctx, tx, sql, nil, &t.Older, &t.Sessions, &t.Agents, &t.Turns, &t.Steps, &t.Calls, &t.Compactions, &t.Bytes,
			&t.Usage.Input, &t.Usage.Output, &t.Usage.CacheRead, &t.Usage.CacheWrite, &t.CostUSD, &first, &last)
		if err != nil {
			return err
		}
		t.First, t.Last = index.Instant(first), index.Instant(last)
		if t.Passages, err = passageCount(ctx, tx); err != nil {
			return err
		}
		projects, err := projects(ctx, tx)
		t.Projects = len(projects)
		return err
	})
	return t, err
}

// PassageCount returns how many passages there are.
func (s *Store) PassageCount(ctx context.Context) (n int, err error) {
	err = s.read(ctx, "count passages", func(ctx context.Context, tx pgx.Tx) error {
		n, err = passageCount(ctx, tx)
		return err
	})
	return n, err
}

func passageCount(ctx context.Context, tx pgx.Tx) (n int, err error) {
	_, err = queryRow(ctx, tx, "SELECT coalesce(sum(held), 0)::bigint FROM sessions", nil, &n)
	return n, err
}
