package cli

import (
	"github.com/spf13/cobra"

	"strandline/internal/capture"
)

// catchupCommand is started by hooks, near their deadline and when a session ends.
// Its output is not shown.
func (a *commands) catchupCommand() *cobra.Command {
	var ended capture.PendingWork
	cmd := &cobra.Command{
		Use: "catchup", Hidden: true, Short: "Finish the work that a hook deferred",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.app.CatchUp(cmd.Context(), ended) },
	}
	cmd.Flags().StringVar(&ended.Session, "session", "", "a session that has ended: wait for its last rows")
	cmd.Flags().StringVar(&ended.Transcript, "transcript", "", "its transcript")
	cmd.Flags().StringVar(&ended.Cwd, "cwd", "", "its folder")
	return cmd
}
