package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"strandline/internal/lifecycle"
)

func (a *app) maintainCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "maintain",
		Short: "Do one pass of upkeep: catch up, index, seal finished logs",
		Long: `Do one pass of upkeep: finish what hooks had to leave, index every log that is ahead of
the index, and rewrite logs that nothing was added to for hours into a smaller form. A
pass may run at any time and as often as one likes.`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStore(cmd.Context(), StoreWrite, func(x indexed) error {
				return a.maintain(cmd.Context(), x, asJSON)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) maintain(ctx context.Context, x indexed, asJSON bool) error {
	lock, err := x.lock("maintain", "pass of upkeep")
	if err != nil {
		return err
	}
	defer lock.Release() // it ends with the process in any case
	stages := a.pass(x.rooms).Run(ctx, x.store)
	if asJSON {
		err = a.printJSON(stages)
	} else {
		a.printStages(stages)
	}
	for _, st := range stages {
		if st.Error != "" && err == nil {
			err = silentError{ExitInternal}
		}
	}
	return err
}

// pass is one pass of upkeep over an archive.
func (a *app) pass(r rooms) lifecycle.Pass {
	return lifecycle.Pass{
		Capture: r.capture, Journal: r.journal, Pending: r.pending(), Now: a.env.Now, Rest: lifecycle.DefaultRest,
	}
}

func (a *app) printStages(stages []lifecycle.Stage) {
	for _, st := range stages {
		line := fmt.Sprintf("%-8s %4d done  %5d ms", st.Name, st.Done, st.TookMS)
		if st.Before > 0 {
			line += fmt.Sprintf("  %s -> %s", size(st.Before), size(st.After))
		}
		if st.Error != "" {
			line += "  " + st.Error
		}
		fmt.Fprintln(a.out, line)
	}
}
