package sqlite

import (
	"cmp"
	"context"
	"slices"

	"strandline/internal/archive"
)

// mergeDepth bounds how many merges are followed from key to key.
const mergeDepth = 16

// projectNames knows every project and which keys stand for which.
type projectNames struct {
	into  map[string]string
	byKey map[string]projectRow
}

type projectRow struct {
	no int64
	archive.Project
}

func (s *Store) projectNames(ctx context.Context) (*projectNames, error) {
	n := &projectNames{into: map[string]string{}, byKey: map[string]projectRow{}}
	err := s.query(ctx, "SELECT old, target FROM aliases", nil, func(scan scanFunc) error {
		var from, into string
		err := scan(&from, &into)
		n.into[from] = into
		return err
	})
	if err != nil {
		return nil, err
	}
	err = s.query(ctx, "SELECT no, key, name, root, remote FROM projects", nil, func(scan scanFunc) error {
		var p projectRow
		err := scan(&p.no, &p.Key, &p.Name, &p.Root, &p.Remote)
		n.byKey[p.Key] = p
		return err
	})
	return n, err
}

// canonical returns the key that stands for key. Merges that run in a circle end
// at the smallest key of it.
func (n *projectNames) canonical(key string) string {
	seen := []string{key}
	for range mergeDepth {
		into, ok := n.into[key]
		if !ok {
			return key
		}
		if i := slices.Index(seen, into); i >= 0 {
			return slices.Min(seen[i:])
		}
		key = into
		seen = append(seen, key)
	}
	return key
}

// resolve returns the project that p is part of now; the work tree stays p's own.
func (n *projectNames) resolve(p archive.Project) archive.Project {
	key := n.canonical(p.Key)
	if key == p.Key {
		return p
	}
	into := archive.Project{Key: key, Worktree: p.Worktree}
	if row, ok := n.byKey[key]; ok {
		into.Name, into.Root, into.Remote = row.Name, row.Root, row.Remote
	}
	return into
}

// numbers returns the projects that keys stand for, merged ones included. It is
// never empty: a number that no project has selects nothing.
func (n *projectNames) numbers(keys []string) []int64 {
	want := map[string]bool{}
	for _, k := range keys {
		want[n.canonical(k)] = true
	}
	out := []int64{-1}
	for key, row := range n.byKey {
		if want[n.canonical(key)] {
			out = append(out, row.no)
		}
	}
	slices.Sort(out)
	return out
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
	sums := map[string]*archive.ProjectSummary{}
	err = s.query(ctx, projectsQuery, nil, func(scan scanFunc) error {
		var row archive.ProjectSummary
		var first, last int64
		p := &row.Project
		if err := scan(&p.Key, &p.Name, &p.Root, &p.Remote, &row.Sessions, &row.Agents, &row.Turns, &row.Bytes, &first, &last); err != nil {
			return err
		}
		row.First, row.Last = instant(first), instant(last)
		row.Project = names.resolve(row.Project)
		sum, ok := sums[row.Project.Key]
		if !ok {
			sums[row.Project.Key] = &row
			return nil
		}
		sum.Sessions, sum.Agents = sum.Sessions+row.Sessions, sum.Agents+row.Agents
		sum.Turns, sum.Bytes = sum.Turns+row.Turns, sum.Bytes+row.Bytes
		if sum.First.IsZero() || !row.First.IsZero() && row.First.Before(sum.First) {
			sum.First = row.First
		}
		if row.Last.After(sum.Last) {
			sum.Last = row.Last
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for from := range names.into {
		if sum, ok := sums[names.canonical(from)]; ok && sum.Project.Key != from {
			sum.Aliases = append(sum.Aliases, from)
		}
	}
	out := make([]archive.ProjectSummary, 0, len(sums))
	for _, sum := range sums {
		slices.Sort(sum.Aliases)
		out = append(out, *sum)
	}
	slices.SortFunc(out, func(x, y archive.ProjectSummary) int {
		return cmp.Or(y.Last.Compare(x.Last), cmp.Compare(x.Project.Key, y.Project.Key))
	})
	return out, nil
}
