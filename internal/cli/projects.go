package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *commands) projectsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "projects",
		Short: "List the projects that sessions are kept of",
		Args:  knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.app.Projects(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(list)
			}
			t := newTable("PROJECT", ">SESSIONS", ">TURNS", ">SIZE", "LAST", "FOLDER")
			t.paths = true
			for _, p := range list {
				t.row(cmp.Or(p.Name, p.Key), fmt.Sprint(p.Sessions), fmt.Sprint(p.Turns), size(p.Bytes), a.ago(p.Last), cmp.Or(p.Root, p.Key))
			}
			return t.write(a.out, a.width())
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.AddCommand(a.mergeCommand())
	return cmd
}

// mergeCommand makes a folder that was moved one project with its old self.
func (a *commands) mergeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge FROM INTO",
		Short: "Make the sessions of a moved folder belong to its new project",
		Long: `Make the sessions of one project belong to another: for a folder that was moved or
renamed. FROM and INTO are folders or the keys that ` + "`projects --json`" + ` prints. The
fact is kept in the journal, so that a rebuilt index knows it.`,
		Args: arguments("FROM", "INTO"),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := a.app.MergeProjects(cmd.Context(), args[0], args[1])
			if err == nil {
				fmt.Fprintf(a.out, "%s of %s now belong to %s\n", count(m.Sessions, "session"), cmp.Or(m.From.Root, m.From.Key), cmp.Or(m.Into.Root, m.Into.Key))
			}
			return err
		},
	}
}
