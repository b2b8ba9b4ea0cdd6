package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/compact"
)

func (a *commands) restoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore", Short: "Print the context that a compaction of a session gets back",
		Long: `Print the context that a session gets back after a compaction: the user's prompts, the
work in progress, changes, commands with their outcome, decisions with their reasons, and
open errors, each with a handle.

The text is selected by score. --role changes the order of the sections and their
weights: orchestrator, developer, specialist, validator, or auto for the role that fits
the session. A sub-agent of a known type gets the role of its type.`,
	}
	role := cmd.Flags().String("role", "", "order and weigh the sections for a role: orchestrator, developer, specialist, validator or auto")
	return a.contextCommand(cmd, func(ctx context.Context, q app.ContextQuery) (app.Context, error) {
		if cmd.Flags().Changed("role") {
			if _, err := compact.ParseRole(*role); err != nil {
				return app.Context{}, err
			}
		}
		q.Role = *role
		return a.app.Restore(ctx, q)
	})
}

func (a *commands) preserveCommand() *cobra.Command {
	return a.contextCommand(&cobra.Command{
		Use: "preserve", Short: "Print the steering text for the client's summarizer",
		Long: `Print the text that is appended to the client's own compaction prompt, so that its
summary keeps tasks, files, decisions and errors.`,
	}, a.app.Preserve)
}

// contextCommand makes a command that prints a text for a compaction.
func (a *commands) contextCommand(cmd *cobra.Command, build func(context.Context, app.ContextQuery) (app.Context, error)) *cobra.Command {
	var q app.ContextQuery
	var budget int
	sessionFlag(cmd, &q.Session)
	cmd.Flags().IntVar(&q.AtLine, "at-line", 0, "as if the session had ended before this line of its transcript (0-based, exclusive; 0: its end)")
	cmd.Flags().IntVar(&budget, "budget", 0, "maximum number of characters (default: the setting)")
	return query(a, cmd, func(ctx context.Context, _ []string) (app.Context, error) {
		if q.AtLine < 0 || budget < 0 {
			return app.Context{}, wrongUsage("--at-line and --budget take numbers from 0 up", "")
		}
		if cmd.Flags().Changed("budget") {
			q.Budget = &budget
		}
		return build(ctx, q)
	}, func(out app.Context) error {
		switch {
		case out.Text == "" && q.Budget != nil:
			fmt.Fprintf(a.errOut, "Nothing to say about this session in %s.\n", count(budget, "character"))
			return nil
		case out.Text == "":
			fmt.Fprintln(a.errOut, "Nothing to say about this session.")
			return nil
		}
		return a.println(out.Text)
	})
}
