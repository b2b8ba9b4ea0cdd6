package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/compact"
)

// contextFlags are those of the commands that print what a compaction gets.
type contextFlags struct {
	session string
	atLine  int
	budget  int
	asJSON  bool
}

func (f *contextFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	sessionFlag(cmd, &f.session)
	fl.IntVar(&f.atLine, "at-line", 0, "as if the session had ended before this line of its transcript (0-based, exclusive; 0: its end)")
	fl.IntVar(&f.budget, "budget", 0, "at most this many characters (default: the setting)")
	jsonFlag(cmd, &f.asJSON)
}

func (a *commands) restoreCommand() *cobra.Command {
	var f contextFlags
	role := ""
	cmd := &cobra.Command{
		Use:   "restore",
		Short: "Print the block that a compaction of a session would get back",
		Long: `Print the block that the client's context gets back after a compaction of the
session: what was asked, what was being done, what changed, commands with their
outcome, decisions with their reasons, open errors, each with a handle.

The text is selected by score. --role changes the order of the sections and their
weights: orchestrator, developer, specialist, validator, or auto for the role that
fits the session. A sub-agent of a known type gets the role of its type.`,
		Args: arguments(),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&role, "role", "", "shape the block for a role: orchestrator, developer, specialist, validator or auto")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("role") {
			if _, err := compact.ParseRole(role); err != nil {
				return err
			}
		}
		return a.printContext(cmd, f, role, a.app.Restore)
	}
	return cmd
}

func (a *commands) preserveCommand() *cobra.Command {
	var f contextFlags
	cmd := &cobra.Command{
		Use:   "preserve",
		Short: "Print the text that the client's summarizer would be given",
		Long: `Print the text that is appended to the client's own compaction prompt, so that its
summary keeps tasks, files, decisions and errors.`,
		Args: arguments(),
	}
	f.register(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return a.printContext(cmd, f, "", a.app.Preserve)
	}
	return cmd
}

func (a *commands) printContext(cmd *cobra.Command, f contextFlags, role string, build func(context.Context, app.ContextQuery) (app.Context, error)) error {
	if f.atLine < 0 || f.budget < 0 {
		return wrongUsage("--at-line and --budget take numbers from 0 up", "")
	}
	q := app.ContextQuery{Session: f.session, Role: role, AtLine: f.atLine}
	if cmd.Flags().Changed("budget") {
		q.Budget = &f.budget
	}
	out, err := build(cmd.Context(), q)
	switch {
	case err != nil:
		return err
	case f.asJSON:
		return a.printJSON(out)
	case out.Text == "" && q.Budget != nil:
		fmt.Fprintf(a.errOut, "Nothing to say about this session in %s.\n", count(f.budget, "character"))
		return nil
	case out.Text == "":
		fmt.Fprintln(a.errOut, "Nothing to say about this session.")
		return nil
	}
	if _, err := io.WriteString(a.out, out.Text+"\n"); err != nil {
		return cannotPrint(err)
	}
	return nil
}
