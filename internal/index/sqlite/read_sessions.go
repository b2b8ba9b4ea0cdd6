package sqlite

import (
	"context"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/index"
)

const sessionSelect = "SELECT s.id, " + sessionColumns + ", coalesce(p.key, ''), coalesce(p.name, ''), coalesce(p.root, ''), coalesce(p.remote, '') " +
	"FROM sessions s LEFT JOIN projects p ON p.no = s.project "

// Session returns a session by its full id, or an Error with CodeNotFound.
func (s *Store) Session(ctx context.Context, id string) (x archive.Session, err error) {
	err = s.read(ctx, "read a session", func(ctx context.Context) error {
		names, err := s.projectNames(ctx)
		if err != nil {
			return err
		}
		found := false
		err = s.query(ctx, sessionSelect+"WHERE s.id = ? AND s.known = 1", []any{id}, func(scan scanFunc) error {
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
	err = s.read(ctx, "list sessions", func(ctx context.Context) error {
		names, err := s.projectNames(ctx)
		if err != nil {
			return err
		}
		query, args := sessionsQuery(f, names)
		return s.query(ctx, query, args, func(scan scanFunc) error {
			x, err := scanSession(scan, names)
			out = append(out, x)
			return err
		})
	})
	return out, err
}

func sessionsQuery(f archive.SessionFilter, names *index.Projects) (query string, args []any) {
	var w strings.Builder
	w.WriteString(sessionSelect + "WHERE s.known = 1")
	if len(f.Projects) > 0 {
		numbers := names.Numbers(f.Projects)
		w.WriteString(" AND s.project IN (" + marks(len(numbers)) + ")")
		args = append(args, anys(numbers)...)
	}
	if f.Parent != "" {
		// The partial index is only used if the query repeats its condition.
		w.WriteString(" AND s.parent_id = ? AND s.parent_id <> ''")
		args = append(args, f.Parent)
	}
	if !f.Agents {
		w.WriteString(" AND s.relation <> ?")
		args = append(args, string(archive.RelationAgent))
	}
	if !f.Since.IsZero() {
		w.WriteString(" AND s.last >= ?")
		args = append(args, index.Nanos(f.Since))
	}
	w.WriteString(" ORDER BY s.last DESC, s.id DESC")
	if f.Limit > 0 {
		w.WriteString(" LIMIT ?")
		args = append(args, f.Limit)
	}
	return w.String(), args
}

func scanSession(scan scanFunc, names *index.Projects) (x archive.Session, err error) {
	var known int64
	err = index.ReadSession(scan, names, &x, &known)
	return x, err
}

// Totals describes the whole archive.
func (s *Store) Totals(ctx context.Context) (t archive.Totals, err error) {
	const query = "SELECT count(*) FILTER (WHERE instr(id, '@')), count(*) FILTER (WHERE relation <> 'agent' AND NOT instr(id, '@')), " +
		"count(*) FILTER (WHERE relation = 'agent' AND NOT instr(id, '@')), " +
		"coalesce(sum(turns), 0), coalesce(sum(steps), 0), coalesce(sum(calls), 0), coalesce(sum(compacts), 0), coalesce(sum(bytes), 0), " +
		"coalesce(sum(input), 0), coalesce(sum(output), 0), coalesce(sum(cache_read), 0), coalesce(sum(cache_write), 0), " +
		"coalesce(sum(cost_usd), 0.0), coalesce(min(first) FILTER (WHERE first <> 0), 0), coalesce(max(last), 0) FROM sessions WHERE known = 1"
	err = s.read(ctx, "read totals", func(ctx context.Context) error {
		var first, last int64
		_, err := s.queryRow(ctx, query, nil, &t.Older, &t.Sessions, &t.Agents, &t.Turns, &t.Steps, &t.Calls, &t.Compactions, &t.Bytes,
			&t.Usage.Input, &t.Usage.Output, &t.Usage.CacheRead, &t.Usage.CacheWrite, &t.CostUSD, &first, &last)
		if err != nil {
			return err
		}
		t.First, t.Last = index.Instant(first), index.Instant(last)
		if t.Passages, err = s.passageCount(ctx); err != nil {
			return err
		}
		projects, err := s.projects(ctx)
		t.Projects = len(projects)
		return err
	})
	return t, err
}

// PassageCount returns how many passages there are, at the price of one row.
func (s *Store) PassageCount(ctx context.Context) (n int, err error) {
	err = s.read(ctx, "count passages", func(ctx context.Context) error {
		n, err = s.passageCount(ctx)
		return err
	})
	return n, err
}

func (s *Store) passageCount(ctx context.Context) (n int, err error) {
	_, err = s.queryRow(ctx, "SELECT value FROM meta WHERE name = 'passages'", nil, &n)
	return n, err
}
