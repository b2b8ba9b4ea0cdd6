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
		var shape compact.Role
		if cmd.Flags().Changed("role") {
			var err error
			if shape, err = compact.ParseRole(role); err != nil {
				return err
			}
		}
		return a.printContext(cmd, f, func(ctx context.Context, x app.Archive, req compact.Request) (compact.Block, error) {
			req.Role = shape
			if !cmd.Flags().Changed("budget") {
				req.Budget = x.Config.Restore.Budget
			}
			return a.restored(ctx, x, req)
		})
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
		return a.printContext(cmd, f, func(ctx context.Context, x app.Archive, req compact.Request) (compact.Block, error) {
			if !cmd.Flags().Changed("budget") {
				req.Budget = x.Config.Compaction.InstructionBudget
			}
			return a.preserved(ctx, x, req)
		})
	}
	return cmd
}

// restored is the block that a compaction gets back.
func (a *commands) restored(ctx context.Context, x app.Archive, req compact.Request) (compact.Block, error) {
	req.Log, req.Redact = x.Capture.Conversation, x.Redact
	if err := a.learned(ctx, x, &req); err != nil {
		return compact.Block{}, err
	}
	return compact.Restore(ctx, x.Index, req)
}

// preserved is the text that the client's summarizer would be given.
func (a *commands) preserved(ctx context.Context, x app.Archive, req compact.Request) (compact.Block, error) {
	if req.AtLine == 0 && a.app.Changes != nil { // a work tree has no past to look at
		s, err := x.Index.Session(ctx, req.Session)
		if err != nil {
			return compact.Block{}, err
		}
		req.Changes = func(ctx context.Context) string { return a.app.Changes(x.Config)(ctx, s.Cwd) }
	}
	var err error
	if req.Summaries, err = a.summaries(ctx, x, req); err != nil {
		return compact.Block{}, err
	}
	text, err := compact.Preserve(ctx, x.Index, req)
	return compact.Block{Text: text}, err
}

func (a *commands) printContext(cmd *cobra.Command, f contextFlags, build func(context.Context, app.Archive, compact.Request) (compact.Block, error)) error {
	if f.atLine < 0 || f.budget < 0 {
		return wrongUsage("--at-line and --budget take numbers from 0 up", "")
	}
	ctx := cmd.Context()
	return a.app.WithArchive(ctx, app.ReadOnly, func(x app.Archive) error {
		id, err := a.app.SessionOrLatest(ctx, x, f.session)
		if err != nil {
			return err
		}
		block, err := build(ctx, x, compact.Request{Session: id, AtLine: f.atLine, Budget: f.budget, Now: a.app.Now()})
		if err != nil {
			return err
		}
		if f.asJSON {
			return a.printJSON(app.NewContext(id, block))
		}
		if block.Text == "" {
			if cmd.Flags().Changed("budget") {
				fmt.Fprintf(a.errOut, "Nothing to say about this session in %s.\n", count(f.budget, "character"))
				return nil
			}
			fmt.Fprintln(a.errOut, "Nothing to say about this session.")
			return nil
		}
		if _, err := io.WriteString(a.out, block.Text+"\n"); err != nil {
			return cannotPrint(err)
		}
		return nil
	})
}
