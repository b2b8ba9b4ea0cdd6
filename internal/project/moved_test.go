package project_test

import (
	"slices"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/project"
)

func TestMoves(t *testing.T) {
	repo := func(root, remote string) archive.Project {
		return archive.Project{Key: "git:" + root + "/.git", Name: "app", Root: root, Remote: remote}
	}
	const remote = "example.com/app"
	now := repo("/new", remote)
	for _, tc := range []struct {
		name     string
		others   []archive.Project
		existing []string
		want     []string // the roots that moved to /new
	}{
		{"nothing else is known", nil, nil, nil},
		{"the old folder is gone", []archive.Project{repo("/old", remote)}, nil, []string{"/old"}},
		{"two old folders are gone", []archive.Project{repo("/a", remote), repo("/b", remote)}, nil, []string{"/a", "/b"}},
		{"the old folder is still there", []archive.Project{repo("/old", remote)}, []string{"/old"}, nil},
		{"its work tree is gone, its repository is not", []archive.Project{repo("/old", remote)}, []string{"/old/.git"}, nil},
		{"another remote", []archive.Project{repo("/old", "example.com/other")}, nil, nil},
		{"no remote", []archive.Project{repo("/old", "")}, nil, nil},
		{"two folders could be the new one", []archive.Project{repo("/old", remote), repo("/second", remote)}, []string{"/second"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			exists := func(path string) bool { return path == now.Root || slices.Contains(tc.existing, path) }
			var got []string
			for _, m := range project.Moves(append([]archive.Project{now}, tc.others...), exists) {
				if m.Into == now {
					got = append(got, m.From.Root)
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
