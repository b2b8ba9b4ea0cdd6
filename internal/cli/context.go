package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/compact"
)

// contextCommand makes a command that prints text for a compaction.
func (a *commands) contextCommand(cmd *cobra.Command, build func(context.Context, app.ContextQuery) (app.Context, error)) *cobra.Command {
	var q app.ContextQuery
	var budget int
	var asJSON bool
	fl := cmd.Flags()
	sessionFlag(cmd, &q.Session)
	fl.IntVar(&q.AtLine, "at-line", 0, "as if the session had ended before this line of its transcript (0-based, exclusive; 0: its end)")
	fl.IntVar(&budget, "budget", 0, "at most this many characters (default: the setting)")
	jsonFlag(cmd, &asJSON)
	cmd.Args = arguments()
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if q.AtLine < 0 || budget < 0 {
			return wrongUsage("--at-line and --budget take numbers from 0 up", "")
		}
		within := "."
		if cmd.Flags().Changed("budget") {
			q.Budget, within = &budget, " in "+count(budget, "character")+"."
		}
		if role := cmd.Flags().Lookup("role"); role != nil && role.Changed {
			r, err := compact.ParseRole(role.Value.String())
			if err != nil {
				return err
			}
			q.Role = string(r)
		}
		out, err := build(cmd.Context(), q)
		switch {
		case err != nil:
			return err
		case asJSON:
			return a.printJSON(out)
		case out.Text == "":
			fmt.Fprintln(a.errOut, "Nothing to say about this session"+within)
			return nil
		}
		fmt.Fprintln(a.out, out.Text)
		return nil
	}
	return cmd
}

func (a *commands) restoreCommand() *cobra.Command {
	cmd := a.contextCommand(&cobra.Command{
		Use:   "restore",
		Short: "Print the context that a compaction of a session would restore",
		Long: `Print the text that the client's context gets back after a compaction of the
session: prompts, unfinished work, file changes, commands with their outcome, decisions
with their reasons, and open errors, each with a handle.

The text is selected by score. --role changes the order of the sections and their
weights: orchestrator, developer, specialist, validator, or auto for the role that
fits the session. A sub-agent of a known type gets the role of its type.`,
	}, a.app.Restore)
	cmd.Flags().String("role", "", "order and weigh the sections for a role: orchestrator, developer, specialist, validator or auto")
	return cmd
}

func (a *commands) preserveCommand() *cobra.Command {
	return a.contextCommand(&cobra.Command{
		Use:   "preserve",
		Short: "Print the steering text for the client's summarizer",
		Long: `Print the text that is appended to the client's own compaction prompt, so that its
summary keeps tasks, files, decisions and errors.`,
	}, a.app.Preserve)
}
