package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A command that is called by its name is made alone, and it is the same one
// that the whole command line holds.
func TestSingleCommandEqualsFullTree(t *testing.T) {
	a := newCommands(newWorld(t).options(&bytes.Buffer{}, &bytes.Buffer{}))
	all := a.root(nil)
	for _, c := range a.commands() {
		name, _, _ := strings.Cut(c.use, " ")
		alone := a.root([]string{name, "--help"})
		if n := len(alone.Commands()); n > 3 { // help and completion stand beside it
			t.Errorf("%s comes with %d commands", name, n)
		}
		i := slices.IndexFunc(alone.Commands(), func(x *cobra.Command) bool { return x.Name() == name })
		whole, _, err := all.Find([]string{name})
		if err != nil || i < 0 {
			t.Fatalf("%q makes %v (%v)", name, alone.Commands(), err)
		}
		if cmd := alone.Commands()[i]; cmd.Short != whole.Short || cmd.Hidden != whole.Hidden {
			t.Errorf("%s differs alone", name)
		}
	}
}

// A command in no group would be in no help.
func TestEveryCommandHasAGroup(t *testing.T) {
	for _, c := range newCommands(newWorld(t).options(&bytes.Buffer{}, &bytes.Buffer{})).commands() {
		if !slices.ContainsFunc(helpGroups(), func(g [2]string) bool { return g[0] == c.group }) {
			t.Errorf("%s is in the group %q", c.use, c.group)
		}
	}
}

// Each file of help belongs to a command, so that a renamed command keeps its text.
func TestHelpFilesBelongToCommands(t *testing.T) {
	root := newCommands(newWorld(t).options(&bytes.Buffer{}, &bytes.Buffer{})).root(nil)
	files, err := helpTexts.ReadDir("help")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{helpFile(root): true}
	for _, c := range root.Commands() {
		for _, c := range append(c.Commands(), c) {
			used[helpFile(c)] = true
		}
	}
	for _, f := range files {
		if !used["help/"+f.Name()] {
			t.Errorf("%s belongs to no command", f.Name())
		}
	}
}
