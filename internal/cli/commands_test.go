package cli

import (
	"bytes"
	"slices"
	"testing"

	"github.com/spf13/cobra"
)

// A command that is called by its name is made alone, and it is the same one
// that the whole command line holds.
func TestSingleCommandEqualsFullTree(t *testing.T) {
	a := newCommands(newWorld(t).options(&bytes.Buffer{}, &bytes.Buffer{}))
	all := a.root(nil)
	for _, c := range a.commands() {
		alone := a.root([]string{c.name, "--help"})
		if n := len(alone.Commands()); n > 3 { // help and completion stand beside it
			t.Errorf("%s comes with %d commands", c.name, n)
		}
		i := slices.IndexFunc(alone.Commands(), func(x *cobra.Command) bool { return x.Name() == c.name })
		whole, _, err := all.Find([]string{c.name})
		if err != nil || i < 0 {
			t.Fatalf("%q makes %v (%v)", c.name, alone.Commands(), err)
		}
		if cmd := alone.Commands()[i]; cmd.Short != whole.Short || cmd.GroupID != whole.GroupID || cmd.Hidden != whole.Hidden {
			t.Errorf("%s differs alone", c.name)
		}
	}
}
