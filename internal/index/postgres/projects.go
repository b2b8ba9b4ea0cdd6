package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
	"strandline/internal/index"
)

func projectNames(ctx context.Context, tx pgx.Tx) (*index.Projects, error) {
	n := index.NewProjects()
	err := query(ctx, tx, "SELECT old, target FROM aliases", nil, func(scan scanFunc) error {
		var from, into string
		err := scan(&from, &into)
		n.Into[from] = into
		return err
	})
	if err != nil {
		return nil, err
	}
	err = query(ctx, tx, "SELECT no, key, name, root, remote FROM projects", nil, func(scan scanFunc) error {
		var p index.ProjectRow
		err := scan(&p.No, &p.Key, &p.Name, &p.Root, &p.Remote)
		n.Rows[p.Key] = p
		return err
	})
	return n, err
}

// Projects lists the projects that have sessions, the one used last first.
func (s *Store) Projects(ctx context.Context) (out []archive.ProjectSummary, err error) {
	err = s.read(ctx, "list projects", func(ctx context.Context, tx pgx.Tx) error {
		out, err = projects(ctx, tx)
		return err
	})
	return out, err
}

const projectsQuery = "SELECT p.key, p.name, p.root, p.remote, count(*) FILTER (WHERE s.relation <> 'agent'), " +
	"count(*) FILTER (WHERE s.relation = 'agent'), sum(s.turns)::bigint, sum(s.bytes)::bigint, " +
	"coalesce(min(s.first) FILTER (WHERE s.first <> 0), 0), max(s.last) " +
	"FROM projects p JOIN sessions s ON s.project = p.no WHERE s.known GROUP BY p.no"

func projects(ctx context.Context, tx pgx.Tx) ([]archive.ProjectSummary, error) {
	names, err := projectNames(ctx, tx)
	if err != nil {
		return nil, err
	}
	var byKey []archive.ProjectSummary
	err = query(ctx, tx, projectsQuery, nil, func(scan scanFunc) error {
		row, err := index.ReadProject(scan)
		byKey = append(byKey, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return names.Sum(byKey), nil
}
