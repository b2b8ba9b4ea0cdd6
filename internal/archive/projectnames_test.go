package archive_test

import (
	"maps"
	"testing"

	"strandline/internal/archive"
)

func TestProjectNames(t *testing.T) {
	folder := func(root string) archive.Project { return archive.Project{Key: "dir:" + root, Root: root} }
	clone := archive.Project{Key: "git:/a/cli/.git", Name: "cli", Root: "/a/cli", Remote: "github.com/entireio/cli"}
	fork := archive.Project{Key: "git:/b/cli/.git", Name: "cli", Root: "/b/cli", Remote: "github.com/ann/cli"}
	got := archive.ProjectNames([]archive.Project{
		folder("/home/ann/shop"), clone, fork, clone, folder("/w/one/app"), folder("/w/two/app"),
		folder("/home/ann/shop/.worktrees/3"), folder("/x/erk/worktrees/erk-slot-3"), folder("/"), {Key: "dir:?"},
	})
	want := map[string]string{
		"dir:/home/ann/shop": "shop", "git:/a/cli/.git": "entireio/cli", "git:/b/cli/.git": "ann/cli",
		"dir:/w/one/app": "one/app", "dir:/w/two/app": "two/app", "dir:/home/ann/shop/.worktrees/3": "shop:3",
		"dir:/x/erk/worktrees/erk-slot-3": "erk:erk-slot-3", "dir:/": "dir:/", "dir:?": "dir:?",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
