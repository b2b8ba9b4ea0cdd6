package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// helpGroups returns the groups of commands, each with its heading, in the order of the
// help. The help without arguments lists the first everyday of them.
func helpGroups() [][2]string {
	return [][2]string{
		{"day", "Every day"}, {"setup", "Setting up"},
		{"more", "More views"}, {"context", "Compaction"}, {"keep", "Upkeep"}, {"client", "For the client and scripts"},
	}
}

const (
	everyday = 2
	helpAll  = "all" // the argument of help that lists every group
)

// printHelp prints the program's help with the commands of some groups.
func (a *commands) printHelp(root *cobra.Command, groups [][2]string) {
	describe(root)
	fmt.Fprintf(a.out, "%s\n\nUsage:\n  strandline COMMAND [flags]\n", strings.TrimSuffix(root.Long, exitHelp))
	all := a.commands()
	for _, g := range groups {
		fmt.Fprintf(a.out, "\n%s:\n", g[1])
		for _, c := range all {
			name, _, _ := strings.Cut(c.use, " ")
			if c.group == g[0] && !hidden(root, name) {
				fmt.Fprintf(a.out, "  %-12s %s\n", name, c.short)
			}
		}
	}
	fmt.Fprintln(a.out)
	if len(groups) == everyday {
		fmt.Fprintf(a.out, "`strandline help %s` adds the commands for upkeep, compactions and scripts.\n", helpAll)
	}
	fmt.Fprintln(a.out, "`strandline COMMAND --help` explains a command.")
	fmt.Fprintln(a.out, strings.TrimPrefix(exitHelp, "\n"))
}

// hidden reports whether no help lists a command.
func hidden(root *cobra.Command, name string) bool {
	i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
	return i >= 0 && root.Commands()[i].Hidden
}
