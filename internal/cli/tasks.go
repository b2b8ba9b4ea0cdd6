package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/task"
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
			return a.app.WithArchive(cmd.Context(), app.ReadOnly, func(x app.Archive) error { return a.tasks(cmd.Context(), x, typed, open, asJSON) })
		},
	}
	sessionFlag(cmd, &typed)
	cmd.Flags().BoolVar(&open, "open", false, "only those with work left")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *commands) tasks(ctx context.Context, x app.Archive, typed string, open, asJSON bool) error {
	id, err := a.app.SessionOrLatest(ctx, x, typed)
	if err != nil {
		return err
	}
	past, err := task.Load(ctx, x.Index, id, 0)
	if err != nil {
		return err
	}
	out := app.Tasks(past, open)
	if asJSON {
		return a.printJSON(out)
	}
	if len(out) == 0 {
		fmt.Fprintf(a.out, "No task in session %s.\n", archive.ShortID(id))
		return nil
	}
	t := newTable("FIRST", "STATUS", "KIND", ">STEPS", "SUBJECT")
	for _, j := range out {
		subject := cmp.Or(j.Subject, "(task "+j.ID+", its subject was not seen)")
		if j.Agent != "" {
			subject = j.Agent + ": " + subject
		}
		t.row(j.Handle, strings.ReplaceAll(j.Status, "_", " "), j.Kind, fmt.Sprint(j.Steps), subject)
	}
	return t.write(a.out, a.width())
}
