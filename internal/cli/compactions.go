package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
)

func (a *commands) compactionsCommand() *cobra.Command {
	var q app.CompactionsQuery
	cmd := &cobra.Command{
		Use: "compactions", Short: "List compactions and how much of the needed context they kept",
		Long: `List the compactions of this project's sessions, newest first, with the share of needed
details that was still in the context afterwards. Needed are the paths, identifiers,
flags, versions and hashes that the session knew before the compaction and used between
it and the next one.

KEPT is the share in the client's summary, or in Strandline's text if CAUSE says ours.
BACK is the share in the restored context, in brackets if none was injected. BOTH is the
share in either. USED counts the restored places with a detail that the session used and
the summary lacked. A dash means that too little was used to measure. --json lists the
places.`,
	}
	f := cmd.Flags()
	f.StringVar(&q.Session, "session", "", "only this session (handle or ID)")
	f.StringVar(&q.Dir, "project", "", "the project in this folder instead of the current one")
	f.BoolVar(&q.All, "all", false, "all projects")
	f.IntVarP(&q.Limit, "limit", "n", 20, "maximum number (0: no limit)")
	return query(a, cmd, func(ctx context.Context, _ []string) ([]app.Compaction, error) {
		if q.All && (q.Dir != "" || q.Session != "") || q.Dir != "" && q.Session != "" {
			return nil, wrongUsage("--all, --project and --session exclude each other", "")
		}
		if err := checkLimit(q.Limit); err != nil {
			return nil, err
		}
		return a.app.Compactions(ctx, q)
	}, func(list []app.Compaction) error {
		switch {
		case len(list) == 0 && (q.All || q.Session != ""):
			return a.println("No compaction.")
		case len(list) == 0:
			return a.println("No compaction in the sessions of this project. `strandline compactions --all` lists those of all.")
		}
		return printTable(a, newTable("TURN", "WHEN", ">TOKENS", ">TOOK", ">KEPT", ">BACK", ">BOTH", ">USED", "CAUSE"), list, a.compactionRow)
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
