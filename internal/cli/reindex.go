package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *commands) reindexCommand() *cobra.Command {
	return &cobra.Command{
		Use: "reindex", Short: "Rebuild the index from the logs and the journal",
		Long: `Rebuild the index from the logs and the journal alone. The old one stays in place until
the new one is complete; nothing is lost if it is interrupted.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.reindex(cmd.Context()) },
	}
}

func (a *commands) reindex(ctx context.Context) error {
	bar := a.newProgress("indexing")
	out, err := a.app.Reindex(ctx, bar.capture)
	bar.end()
	if r := out.Built; r.Done > 0 || err == nil {
		fmt.Fprintf(a.out, "%s indexed from %s of logs\n", runs(r.Sessions, r.Agents), size(r.Bytes))
	}
	if r := out.Later; r.Sessions+r.Agents > 0 {
		fmt.Fprintf(a.out, "%s changed meanwhile, now indexed as well\n", runs(r.Sessions, r.Agents))
	}
	for _, f := range out.Failed {
		fmt.Fprintf(a.errOut, "not indexed: %s\n", f)
	}
	if err == nil && len(out.Failed) > 0 {
		return silentError{ExitCorrupt}
	}
	return err
}
