package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
)

func (a *commands) statsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats [SESSION]",
		Short: "Count turns, calls, tokens and cost, in all or of one session",
		Long: `Count turns, calls, tokens and cost of the archive or of one session. Tokens are the
API's own figures, each response counted once; cost is what the client wrote down.`,
		Args: arguments("[SESSION]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := a.app.Stats(cmd.Context(), strings.Join(args, ""))
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(st)
			}
			a.printStats(st)
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *commands) printStats(st app.Stats) {
	w := a.out
	if st.Session != "" {
		fmt.Fprintln(w, st.Session)
	}
	if st.Session == "" {
		fmt.Fprintf(w, "%-12s %s\n", "kept", runs(st.Sessions, st.Agents))
	}
	fmt.Fprintf(w, "%-12s %d\n%-12s %d\n%-12s %d\n%-12s %d\n%-12s %s\n",
		"turns", st.Turns, "steps", st.Steps, "tool calls", st.Calls, "compactions", st.Compactions, "transcripts", size(st.Bytes))
	fmt.Fprintf(w, "%-12s %s input · %s cache read · %s cache write · %s output\n", "tokens", tokens(st.Input), tokens(st.CacheRead), tokens(st.CacheWrite), tokens(st.Output))
	if st.CostUSD > 0 {
		fmt.Fprintf(w, "%-12s $%.2f as the client counted it\n", "cost", st.CostUSD)
	}
	fmt.Fprintf(w, "%-12s %s to %s\n", "time", a.stamp(st.First), a.stamp(st.Last))
}
