package index

import (
	"cmp"
	"slices"

	"strandline/internal/archive"
)

// mergeDepth bounds how many merges are followed from key to key.
const mergeDepth = 16

// Projects knows every project and which keys stand for which.
type Projects struct {
	Into map[string]string // merged keys
	Rows map[string]ProjectRow
}

// ProjectRow is a project and its number in the store.
type ProjectRow struct {
	No int64
	archive.Project
}

// NewProjects returns one that knows no project yet.
func NewProjects() *Projects {
	return &Projects{Into: map[string]string{}, Rows: map[string]ProjectRow{}}
}

// Canonical returns the key that stands for key. Merges that run in a circle end
// at the smallest key of it.
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

// Resolve returns the project that p is part of now; the work tree stays p's own.
func (n *Projects) Resolve(p archive.Project) archive.Project {
	key := n.Canonical(p.Key)
	if key == p.Key {
		return p
	}
	into := archive.Project{Key: key, Worktree: p.Worktree}
	if row, ok := n.Rows[key]; ok {
		into.Name, into.Root, into.Remote = row.Name, row.Root, row.Remote
	}
	return into
}

// Numbers returns the projects that keys stand for, merged ones included. It is
// never empty: a number that no project has selects nothing.
func (n *Projects) Numbers(keys []string) []int64 {
	want := map[string]bool{}
	for _, k := range keys {
		want[n.Canonical(k)] = true
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

// Sum adds up what is known of each key to what is known of each project, the one
// used last first.
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
	for from := range n.Into {
		if sum, ok := sums[n.Canonical(from)]; ok && sum.Project.Key != from {
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
