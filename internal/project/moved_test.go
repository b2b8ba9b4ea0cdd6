package project_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/project"
)

func TestMoves(t *testing.T) {
	abs := func(path string) string {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	repo := func(root, remote string) archive.ProjectSummary {
		p := archive.Project{Key: archive.RepositoryKey(filepath.Join(root, ".git")), Name: "app", Root: root, Remote: remote}
		return archive.ProjectSummary{Project: p, First: day(1), Last: day(10)}
	}
	const remote = "example.com/app"
	now, old, second := repo(abs("/new"), remote), repo(abs("/old"), remote), repo(abs("/second"), remote)
	now.First, now.Last = day(11), day(20)
	later := old
	later.Last = day(12)
	for _, tc := range []struct {
		name     string
		others   []archive.ProjectSummary
		existing []string
		want     []string // the roots that moved to /new
	}{
		{"nothing else is known", nil, nil, nil},
		{"the old folder is gone", []archive.ProjectSummary{old}, nil, []string{abs("/old")}},
		{"two old folders are gone", []archive.ProjectSummary{old, second}, nil, []string{abs("/old"), abs("/second")}},
		{"the old folder is still there", []archive.ProjectSummary{old}, []string{abs("/old")}, nil},
		{"its work tree is gone, its repository is not", []archive.ProjectSummary{old}, []string{abs("/old/.git")}, nil},
		{"another remote", []archive.ProjectSummary{repo(abs("/old"), "example.com/other")}, nil, nil},
		{"no remote", []archive.ProjectSummary{repo(abs("/old"), "")}, nil, nil},
		{"two folders could be the new one", []archive.ProjectSummary{old, second}, []string{abs("/second")}, nil},
		{"both were used at the same time", []archive.ProjectSummary{later}, nil, nil},
		{"a folder of another system", []archive.ProjectSummary{repo(`elsewhere:\old`, remote)}, nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			exists := func(path string) bool { return path == now.Project.Root || slices.Contains(tc.existing, path) }
			var got []string
			for _, m := range project.Moves(append([]archive.ProjectSummary{now}, tc.others...), exists) {
				if m.Into == now.Project {
					got = append(got, m.From.Root)
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
