package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/compact"
)

func (a *commands) restoreCommand(cmd *cobra.Command) {
	role := cmd.Flags().String("role", "", "order and weigh the sections for a role: orchestrator, developer, specialist, validator or auto")
	a.contextCommand(cmd, func(ctx context.Context, q app.ContextQuery) (app.Context, error) {
		if cmd.Flags().Changed("role") {
			if _, err := compact.ParseRole(*role); err != nil {
				return app.Context{}, err
			}
		}
		q.Role = *role
		return a.app.Restore(ctx, q)
	})
}

func (a *commands) preserveCommand(cmd *cobra.Command) { a.contextCommand(cmd, a.app.Preserve) }

// contextCommand makes a command that prints a text for a compaction.
func (a *commands) contextCommand(cmd *cobra.Command, build func(context.Context, app.ContextQuery) (app.Context, error)) {
	var q app.ContextQuery
	sessionFlag(cmd, &q.Session)
	cmd.Flags().IntVar(&q.AtLine, "at-line", 0, "as if the session had ended before this line of its transcript (0-based, exclusive; 0: its end)")
	budget := cmd.Flags().Int("budget", 0, "maximum number of characters (default: the setting)")
	query(a, cmd, func(ctx context.Context, _ []string) (app.Context, error) {
		if q.AtLine < 0 || *budget < 0 {
			return app.Context{}, wrongUsage("--at-line and --budget take numbers from 0 up", "")
		}
		if cmd.Flags().Changed("budget") {
			q.Budget = budget
		}
		return build(ctx, q)
	}, func(out app.Context) error {
		switch {
		case out.Text == "" && q.Budget != nil:
			fmt.Fprintf(a.errOut, "Nothing to say about this session in %s.\n", count(*budget, "character"))
			return nil
		case out.Text == "":
			fmt.Fprintln(a.errOut, "Nothing to say about this session.")
			return nil
		}
		return a.println(out.Text)
	})
}

func (a *commands) compactionsCommand(cmd *cobra.Command) {
	var q app.CompactionsQuery
	f := cmd.Flags()
	f.StringVar(&q.Session, "session", "", "only this session (handle or ID)")
	scopeFlags(f, &q.Scope, "this project instead of the current one, by name or folder")
	limitFlag(cmd, &q.Limit, 20, "maximum number (0: no limit)")
	query(a, cmd, func(ctx context.Context, args []string) ([]app.Compaction, error) {
		if len(args) > 0 {
			q.Session = args[0]
		}
		if q.All && (q.Name != "" || q.Session != "") || q.Name != "" && q.Session != "" {
			return nil, wrongUsage("--all, --project and --session exclude each other", "")
		}
		return a.app.Compactions(ctx, q)
	}, func(list []app.Compaction) error {
		empty := "No compaction in the sessions of this project. `strandline compactions --all` lists those of all."
		if q.All || q.Session != "" {
			empty = "No compaction."
		}
		return printTable(a, empty, newTable("TURN", "WHEN", ">TOKENS", ">TOOK", ">KEPT", ">BACK", ">BOTH", ">USED", "CAUSE"), list, a.compactionRow)
	})
}

func (a *commands) compactionRow(c app.Compaction) []string {
	o, cause := c.Outcome, c.Trigger
	if c.Ours {
		cause += ", ours"
	}
	kept, back, both, used := "-", "-", "-", "-"
	if o.HasShares {
		kept, both = percent(o.Kept), percent(o.Together)
	}
	switch {
	case o.HasShares && c.Given && !c.Ours:
		back, used = percent(o.Restored), fmt.Sprintf("%d/%d", len(c.Used), len(c.Handles))
	case o.HasShares && !c.Ours:
		back = "(" + percent(o.Restored) + ")"
	}
	return []string{
		c.Handle, a.format(c.Time, "01-02 15:04"), thousands(c.PreTokens) + "→" + thousands(c.PostTokens), duration(o.Compaction.Duration),
		kept, back, both, used, cause,
	}
}

// thousands formats a number of tokens in thousands; "-" if it is unknown.
func thousands(n int64) string {
	switch {
	case n <= 0:
		return "-"
	case n < 1000:
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.0fk", float64(n)/1000)
}

// duration formats how long a compaction took; "-" if it is unknown.
func duration(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%.0fs", d.Seconds())
}
