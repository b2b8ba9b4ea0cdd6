package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
)

func (a *commands) doctorCommand() *cobra.Command {
	return query(a, &cobra.Command{
		Use: "doctor", Short: "Check the installation and show recent errors",
		Long: `Check how the client's settings call Strandline, whether the archive is sound and
complete, and show the errors of the last week. Exits with 1 when something keeps
sessions from being recorded or found.`,
	}, func(ctx context.Context, _ []string) ([]app.Finding, error) {
		findings, err := a.app.Doctor(ctx)
		if err == nil && app.Failed(findings) {
			err = silentError{ExitInternal}
		}
		return findings, err
	}, a.printFindings)
}

func (a *commands) printFindings(findings []app.Finding) error {
	p, columns := a.paint(), a.columns(a.env.Stdout)
	marks := map[string]string{"ok": p.green("✓"), "info": p.dim("·"), "warn": p.yellow("!"), "fail": p.red("✗")}
	for _, f := range findings {
		const indent = 2 + 10 + 1
		hang(a.out, columns, marks[string(f.Level)]+" "+p.dim(fmt.Sprintf("%-10s", f.Topic))+" ", indent, f.Msg, plain)
		if f.Hint != "" {
			hang(a.out, columns, strings.Repeat(" ", indent)+p.dim("→ "), indent+2, f.Hint, p.dim)
		}
	}
	return nil
}
