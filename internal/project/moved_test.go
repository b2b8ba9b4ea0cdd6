package project_test

import (
	"slices"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/project"
)

func TestMovedFrom(t *testing.T) {
	repo := func(root, remote string) archive.Project {
		return archive.Project{Key: "git:" + root + "/.git", Name: root[len(root)-3:], Root: root, Remote: remote}
	}
	now := repo("/new/app", "example.com/app")
	for _, tc := range []struct {
		name     string
		p        archive.Project
		known    []archive.Project
		existing []string
		want     string // root, empty: none
	}{
		{"nothing is known", now, nil, nil, ""},
		{"the old folder is gone", now, []archive.Project{repo("/old/app", "example.com/app")}, nil, "/old/app"},
		{"the old folder is still there", now, []archive.Project{repo("/old/app", "example.com/app")}, []string{"/old/app"}, ""},
		{"its work tree went, its repository did not", now, []archive.Project{repo("/old/app", "example.com/app")}, []string{"/old/app/.git"}, ""},
		{"another remote", now, []archive.Project{repo("/old/app", "example.com/other")}, nil, ""},
		{"no remote", repo("/new/app", ""), []archive.Project{repo("/old/app", "")}, nil, ""},
		{"of two the one with the same name", now, []archive.Project{repo("/old/lib", "example.com/app"), repo("/old/app", "example.com/app")}, nil, "/old/app"},
		{"a choice of two", now, []archive.Project{repo("/a/app", "example.com/app"), repo("/b/app", "example.com/app")}, nil, ""},
		{"one of two is gone", now, []archive.Project{repo("/a/app", "example.com/app"), repo("/b/app", "example.com/app")}, []string{"/a/app"}, "/b/app"},
		{"both were known side by side", now, []archive.Project{repo("/old/app", "example.com/app"), now}, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			exists := func(path string) bool { return slices.Contains(tc.existing, path) }
			got, ok := project.MovedFrom(tc.p, tc.known, exists)
			if got.Root != tc.want || ok != (tc.want != "") {
				t.Errorf("got %q, %v; want %q", got.Root, ok, tc.want)
			}
		})
	}
}
