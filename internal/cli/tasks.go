package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
)

func (a *commands) tasksCommand() *cobra.Command {
	var typed string
	var asJSON, open bool
	cmd := &cobra.Command{
		Use:   "tasks",
		Short: "List what a session worked on, and how far it got",
		Long: `List the tasks of a session: those of the client's task tools and of to-do lists,
sub-agents' runs with their outcome, and, where a session keeps no list, the topics that
its conversation went through. An item that a to-do list drops while it is open counts
as deleted. FIRST is where the work on it began.`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.app.Tasks(cmd.Context(), typed, open)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(list.Tasks)
			}
			return a.printTasks(list)
		},
	}
	sessionFlag(cmd, &typed)
	cmd.Flags().BoolVar(&open, "open", false, "only those with work left")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *commands) printTasks(list app.TaskList) error {
	if len(list.Tasks) == 0 {
		fmt.Fprintf(a.out, "No task in session %s.\n", archive.ShortID(list.Session))
		return nil
	}
	t := newTable("FIRST", "STATUS", "KIND", ">STEPS", "SUBJECT")
	for _, j := range list.Tasks {
		subject := cmp.Or(j.Subject, "(task "+j.ID+", its subject was not seen)")
		if j.Agent != "" {
			subject = j.Agent + ": " + subject
		}
		t.row(j.Handle, strings.ReplaceAll(j.Status, "_", " "), j.Kind, fmt.Sprint(j.Steps), subject)
	}
	return t.write(a.out, a.width())
}
