package index

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// internProject returns the number of a project, 0 if it has no key. Of its name,
// root and remote the latest that is not empty is stored.
func internProject(ctx context.Context, tx Tx, p archive.Project) (no int64, err error) {
	if p.Key == "" {
		return 0, nil
	}
	args := []any{p.Key, p.Name, p.Root, p.Remote}
	const stored = "SELECT no FROM projects WHERE key = ?1 AND ?2 IN ('', name) AND ?3 IN ('', root) AND ?4 IN ('', remote)"
	if found, err := tx.QueryRow(ctx, stored, args, &no); err != nil || found {
		return no, err
	}
	const put = "INSERT INTO projects AS p (key, name, root, remote) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (key) DO UPDATE SET " +
		"name = coalesce(nullif(excluded.name, ''), p.name), root = coalesce(nullif(excluded.root, ''), p.root), " +
		"remote = coalesce(nullif(excluded.remote, ''), p.remote)"
	if _, err := tx.Exec(ctx, put, args...); err != nil {
		return 0, err
	}
	return Value[int64](ctx, tx, "SELECT no FROM projects WHERE key = ?", p.Key)
}

func readProjects(ctx context.Context, tx Tx) (*Projects, error) {
	n := &Projects{Into: map[string]string{}, Rows: map[string]ProjectRow{}}
	err := tx.Query(ctx, "SELECT old, target FROM aliases", nil, func(scan Scan) error {
		var from, into string
		err := scan(&from, &into)
		n.Into[from] = into
		return err
	})
	if err == nil {
		err = tx.Query(ctx, "SELECT no, key, name, root, remote FROM projects", nil, func(scan Scan) error {
			var p ProjectRow
			err := scan(&p.No, &p.Key, &p.Name, &p.Root, &p.Remote)
			n.Rows[p.Key] = p
			return err
		})
	}
	n.mergeFolders()
	return n, err
}

// mergeFolders merges each folder without a repository into the repository that was
// made in it later. A merge by the user comes first.
func (n *Projects) mergeFolders() {
	repositories := map[string]string{} // by the key of their folder
	for key, p := range n.Rows {
		folder := archive.FolderKey(p.Root)
		if _, known := n.Rows[folder]; known && key != folder && (repositories[folder] == "" || key < repositories[folder]) {
			repositories[folder] = key
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(repositories)) {
		key := repositories[folder]
		if _, merged := n.Into[folder]; !merged && n.Canonical(key) != folder {
			n.Into[folder] = key
		}
	}
}

// Projects lists the projects that have sessions. The project used last comes first.
func (s *Store) Projects(ctx context.Context) ([]archive.ProjectSummary, error) {
	return Read(ctx, s.read, "list projects", s.projects)
}

func (s *Store) projects(ctx context.Context, tx Tx) ([]archive.ProjectSummary, error) {
	names, err := readProjects(ctx, tx)
	if err != nil {
		return nil, err
	}
	query := "SELECT p.key, p.name, p.root, p.remote, count(*) FILTER (WHERE s.relation <> 'agent'), " +
		"count(*) FILTER (WHERE s.relation = 'agent'), sum(s.turns) - coalesce(sum(r.n), 0), sum(s.bytes), " +
		"coalesce(min(s.first) FILTER (WHERE s.first <> 0), 0), max(s.last) " +
		"FROM projects p " + s.sql.Join + " sessions s ON s.project = p.no LEFT JOIN (" + retoldTurns + ") r ON r.session = s.no WHERE s.known = true GROUP BY p.no"
	byKey, err := Rows(ctx, tx, query, nil, func(scan Scan) (x archive.ProjectSummary, err error) {
		p := &x.Project
		err = scan(&p.Key, &p.Name, &p.Root, &p.Remote, &x.Sessions, &x.Agents, &x.Turns, &x.Bytes, asTime(&x.First), asTime(&x.Last))
		return x, err
	})
	if err != nil {
		return nil, err
	}
	return names.Sum(byKey), nil
}

// mergeDepth is the number of merges that are followed from key to key at most.
const mergeDepth = 16

// Projects holds all projects, and the keys that were merged into others.
type Projects struct {
	Into  map[string]string // the key that a merged key was merged into
	Rows  map[string]ProjectRow
	names map[string]string // that tell projects apart, by key; made when first needed
}

// ProjectRow is a project and its number in the store.
type ProjectRow struct {
	No int64
	archive.Project
}

// Canonical returns the key that key was merged into, directly or indirectly. A
// cycle of merges ends at its smallest key.
func (n *Projects) Canonical(key string) string {
	seen := []string{key}
	for range mergeDepth {
		into, ok := n.Into[key]
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

// Resolve returns the project that p was merged into, with p's own work tree and the
// name that differs from those of the other projects.
func (n *Projects) Resolve(p archive.Project) archive.Project {
	if key := n.Canonical(p.Key); key != p.Key {
		into := n.row(key)
		into.Worktree = p.Worktree
		p = into
	}
	if n.names == nil {
		list := make([]archive.Project, 0, len(n.Rows))
		for key := range n.Rows {
			list = append(list, n.row(n.Canonical(key)))
		}
		n.names = archive.ProjectNames(list)
	}
	if name := n.names[p.Key]; name != p.Key {
		p.Name = cmp.Or(name, p.Name)
	}
	return p
}

// row returns the project with a key. One without sessions, into which another was merged,
// follows from its key.
func (n *Projects) row(key string) archive.Project {
	row, known := n.Rows[key]
	if known {
		return row.Project
	}
	p := archive.Project{Key: key, Root: archive.RepositoryFolder(key)}
	if folder, ok := strings.CutPrefix(key, archive.FolderKey("")); ok {
		p.Root = folder
	}
	p.Name = path.Base(strings.ReplaceAll(p.Root, `\`, "/"))
	return p
}

// Numbers returns the numbers of the projects with these keys, including merged
// projects. It is never empty: the number -1 selects no project.
func (n *Projects) Numbers(keys []string) []int64 {
	want := map[string]bool{}
	for _, k := range keys {
		want[n.Canonical(k)] = true
		if _, known := n.Rows[k]; known {
			continue
		}
		// A repository without sessions, which mergeFolders does not know.
		folder := archive.FolderKey(archive.RepositoryFolder(k))
		if _, merged := n.Into[folder]; !merged {
			want[folder] = true
		}
	}
	out := []int64{-1}
	for key, row := range n.Rows {
		if want[n.Canonical(key)] {
			out = append(out, row.No)
		}
	}
	slices.Sort(out)
	return out
}

// Sum adds up the summaries of merged keys. The project used last comes first.
func (n *Projects) Sum(byKey []archive.ProjectSummary) []archive.ProjectSummary {
	sums := map[string]*archive.ProjectSummary{}
	for _, row := range byKey {
		row.Project = n.Resolve(row.Project)
		sum, ok := sums[row.Project.Key]
		if !ok {
			sums[row.Project.Key] = &row
			continue
		}
		sum.Sessions, sum.Agents = sum.Sessions+row.Sessions, sum.Agents+row.Agents
		sum.Turns, sum.Bytes = sum.Turns+row.Turns, sum.Bytes+row.Bytes
		if sum.First.IsZero() || !row.First.IsZero() && row.First.Before(sum.First) {
			sum.First = row.First
		}
		if row.Last.After(sum.Last) {
			sum.Last = row.Last
		}
	}
	for from, into := range n.Into {
		switch sum, ok := sums[n.Canonical(from)]; {
		case !ok:
		case from == into:
			sum.Split = true
		case sum.Project.Key != from:
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
	return out
}
