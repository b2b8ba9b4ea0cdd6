package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

// earlyCommand is the question of the compactor's module after a turn: whether
// the context is to be compacted now, before the client has to. It is hidden,
// since nobody else asks.
func (a *commands) earlyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "early TOKENS WINDOW", Short: "Say whether the plugin should compact now", Hidden: true, Args: arguments("TOKENS", "WINDOW"),
		Long: "Print \"compact\" if so many tokens are more of the window than autopilot.compact_early,\nand nothing otherwise.",
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := a.app.Settings()
			if err != nil {
				return err
			}
			var numbers [2]float64
			for i, arg := range args {
				if numbers[i], err = strconv.ParseFloat(arg, 64); err != nil {
					return wrongUsage(fmt.Sprintf("%q is no number of tokens", arg), "")
				}
			}
			if early := cfg.Autopilot.CompactEarly; cfg.Autopilot.Enabled && early > 0 && numbers[1] > 0 && numbers[0] >= early*numbers[1] {
				fmt.Fprintln(a.out, "compact")
			}
			return nil
		},
	}
}
