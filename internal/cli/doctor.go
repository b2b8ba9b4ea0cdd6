package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
)

func (a *commands) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check the installation and show recent errors",
		Long: `Check how the client's settings call Strandline, whether the archive is sound and
complete, and show the errors of the last week. Exits with 1 when something keeps
sessions from being recorded or found.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings, err := a.app.Doctor(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(findings)
			} else {
				a.printFindings(findings)
			}
			if app.Failed(findings) {
				return silentError{ExitInternal}
			}
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *commands) printFindings(findings []app.Finding) {
	p, columns := a.paint(), a.columns(a.env.Stdout)
	marks := map[string]string{"ok": p.green("✓"), "info": p.dim("·"), "warn": p.yellow("!"), "fail": p.red("✗")}
	for _, f := range findings {
		const indent = 2 + 10 + 1
		hang(a.out, columns, marks[string(f.Level)]+" "+p.dim(fmt.Sprintf("%-10s", f.Topic))+" ", indent, f.Msg, plain)
		if f.Hint != "" {
			hang(a.out, columns, strings.Repeat(" ", indent)+p.dim("→ "), indent+2, f.Hint, p.dim)
		}
	}
}
