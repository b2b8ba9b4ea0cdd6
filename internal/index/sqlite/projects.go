package sqlite

import (
	"context"

	"strandline/internal/archive"
	"strandline/internal/index"
)

func (s *Store) projectNames(ctx context.Context) (*index.Projects, error) {
	n := index.NewProjects()
	err := s.query(ctx, "SELECT old, target FROM aliases", nil, func(scan scanFunc) error {
		var from, into string
		err := scan(&from, &into)
		n.Into[from] = into
		return err
	})
	if err != nil {
		return nil, err
	}
	err = s.query(ctx, "SELECT no, key, name, root, remote FROM projects", nil, func(scan scanFunc) error {
		var p index.ProjectRow
		err := scan(&p.No, &p.Key, &p.Name, &p.Root, &p.Remote)
		n.Rows[p.Key] = p
		return err
	})
	return n, err
}

// Projects lists the projects that have sessions, the one used last first.
func (s *Store) Projects(ctx context.Context) (out []archive.ProjectSummary, err error) {
	err = s.read(ctx, "list projects", func(ctx context.Context) error {
		out, err = s.projects(ctx)
		return err
	})
	return out, err
}

const projectsQuery = "SELECT p.key, p.name, p.root, p.remote, count(*) FILTER (WHERE s.relation <> 'agent'), " +
	"count(*) FILTER (WHERE s.relation = 'agent'), sum(s.turns), sum(s.bytes), " +
	"coalesce(min(s.first) FILTER (WHERE s.first <> 0), 0), max(s.last) " +
	"FROM projects p CROSS JOIN sessions s ON s.project = p.no WHERE s.known = 1 GROUP BY p.no"

func (s *Store) projects(ctx context.Context) ([]archive.ProjectSummary, error) {
	names, err := s.projectNames(ctx)
	if err != nil {
		return nil, err
	}
	var byKey []archive.ProjectSummary
	err = s.query(ctx, projectsQuery, nil, func(scan scanFunc) error {
		row, err := index.ReadProject(scan)
		byKey = append(byKey, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return names.Sum(byKey), nil
}
