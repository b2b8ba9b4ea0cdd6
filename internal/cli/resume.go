package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/compact"
)

// rebuildFlags adds the flags that rebuild and resume share.
func rebuildFlags(cmd *cobra.Command) *app.Rebuilding {
	o := &app.Rebuilding{}
	cmd.Flags().StringVar(&o.Into, "into", "", "the `DIR` that the project is in now")
	cmd.Flags().BoolVar(&o.Mend, "mend", false, "relink rows whose parent is missing, at which a resume stops")
	cmd.Flags().BoolVar(&o.FromLastCompaction, "from-last-compaction", false, "leave out the rows that a resume does not read, for very long sessions")
	return o
}

func (a *commands) rebuildCommand(cmd *cobra.Command) {
	o := rebuildFlags(cmd)
	cmd.Flags().StringVar(&o.To, "to", "", "write the files below this folder instead of the client's")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := a.app.Rebuild(cmd.Context(), args[0], *o)
		if err != nil {
			return err
		}
		a.printRestored(a.out, r)
		fmt.Fprintf(a.out, "Resume it in %s with: %s\n", cmp.Or(r.Dir, "its folder"), strings.Join(r.Command, " "))
		return nil
	}
}

func (a *commands) resumeCommand(cmd *cobra.Command) {
	o := rebuildFlags(cmd)
	show := cmd.Flags().Bool("print", false, "restore the files, and print the command that starts the client instead of running it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := a.app.Resume(cmd.Context(), args[0], *o)
		if err != nil {
			return err
		}
		argv := append(r.Command, args[1:]...)
		if *show {
			a.printRestored(a.errOut, r)
			fmt.Fprintln(a.out, app.CommandLine(r.Dir, argv))
			return nil
		}
		a.printRestored(a.out, r)
		return a.env.StartProgram(cmd.Context(), r.Dir, argv)
	}
}

// printRestored lists restored files.
func (a *commands) printRestored(out io.Writer, r app.Rebuilt) {
	for _, f := range r.Files {
		note := size(f.Bytes)
		if f.Kept {
			note = "exists already"
		}
		fmt.Fprintf(out, "%s  (%s)\n", f.Path, note)
	}
	if s := app.ReachText(r.Reach); s != "" {
		fmt.Fprintf(out, "Its links were broken and are mended: without, %s.\n", s)
	}
}

func (a *commands) handoffCommand(cmd *cobra.Command) {
	var q app.HandoffQuery
	f := cmd.Flags()
	f.StringVar(&q.To, "to", "", "the client that takes over, such as codex")
	f.IntVar(&q.Budget, "budget", compact.HandoffBudget, "maximum number of characters")
	f.BoolVar(&q.Start, "start", false, "start the client with the record, in the session's folder")
	f.StringVar(&q.Into, "into", "", "with --start: the `DIR` to start it in")
	query(a, cmd, func(ctx context.Context, args []string) (app.Handoff, error) {
		q.Session = argument(args)
		if q.Budget < 0 {
			return app.Handoff{}, wrongUsage("--budget takes a number from 0 up", "")
		}
		return a.app.Handoff(ctx, q)
	}, func(out app.Handoff) error {
		switch {
		case out.Text == "":
			fmt.Fprintf(a.errOut, "Nothing to say about this session in %s.\n", count(q.Budget, "character"))
			return nil
		case q.Start:
			return a.env.StartProgram(cmd.Context(), out.Dir, out.Command)
		}
		return a.println(out.Text)
	})
}
