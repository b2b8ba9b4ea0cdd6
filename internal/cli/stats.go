package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// statsJSON are the sums of an archive or a session for scripts.
type statsJSON struct {
	Session     string    `json:"session,omitempty"`
	Sessions    int       `json:"sessions"`
	Turns       int       `json:"turns"`
	Steps       int       `json:"steps"`
	Calls       int       `json:"calls"`
	Compactions int       `json:"compactions"`
	Bytes       int64     `json:"bytes"`
	Input       int64     `json:"input_tokens"`
	Output      int64     `json:"output_tokens"`
	CacheRead   int64     `json:"cache_read_tokens"`
	CacheWrite  int64     `json:"cache_write_tokens"`
	CostUSD     float64   `json:"cost_usd"`
	First       time.Time `json:"first"`
	Last        time.Time `json:"last"`
}

func (a *app) statsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats [SESSION]",
		Short: "Count turns, calls, tokens and cost, in all or of one session",
		Long: `Count turns, calls, tokens and cost of the archive or of one session. Tokens are the
API's own figures, each response counted once; cost is what the client wrote down.`,
		Args: arguments("[SESSION]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withStore(cmd.Context(), StoreRead, func(x indexed) error {
				st, err := stats(cmd.Context(), x.store, args)
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(st)
				}
				a.printStats(st)
				return nil
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func stats(ctx context.Context, s Store, args []string) (statsJSON, error) {
	if len(args) == 1 {
		_, id, err := session(ctx, s, args[0])
		if err != nil {
			return statsJSON{}, err
		}
		x, err := s.Session(ctx, id)
		return statsJSON{
			Session: id, Sessions: 1, Turns: x.Turns, Steps: x.Steps, Calls: x.Calls, Compactions: x.Compacts, Bytes: x.Bytes,
			Input: x.Usage.Input, Output: x.Usage.Output, CacheRead: x.Usage.CacheRead, CacheWrite: x.Usage.CacheWrite,
			CostUSD: x.Cost.USD, First: x.First, Last: x.Last,
		}, err
	}
	t, err := s.Totals(ctx)
	return statsJSON{
		Sessions: t.Sessions + t.Agents, Turns: t.Turns, Steps: t.Steps, Calls: t.Calls, Compactions: t.Compactions, Bytes: t.Bytes,
		Input: t.Usage.Input, Output: t.Usage.Output, CacheRead: t.Usage.CacheRead, CacheWrite: t.Usage.CacheWrite,
		CostUSD: t.CostUSD, First: t.First, Last: t.Last,
	}, err
}

func (a *app) printStats(st statsJSON) {
	w := a.out
	if st.Session != "" {
		fmt.Fprintln(w, st.Session)
	}
	fmt.Fprintf(w, "%-12s %d\n%-12s %d\n%-12s %d\n%-12s %d\n%-12s %d\n%-12s %s\n",
		"sessions", st.Sessions, "turns", st.Turns, "steps", st.Steps, "tool calls", st.Calls, "compactions", st.Compactions, "transcripts", size(st.Bytes))
	fmt.Fprintf(w, "%-12s %s input · %s cache read · %s cache write · %s output\n", "tokens", tokens(st.Input), tokens(st.CacheRead), tokens(st.CacheWrite), tokens(st.Output))
	if st.CostUSD > 0 {
		fmt.Fprintf(w, "%-12s $%.2f as the client counted it\n", "cost", st.CostUSD)
	}
	fmt.Fprintf(w, "%-12s %s to %s\n", "time", a.stamp(st.First), a.stamp(st.Last))
}
