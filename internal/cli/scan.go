package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
)

func (a *commands) scanCommand(cmd *cobra.Command) {
	a.jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		session := ""
		if len(args) > 0 {
			session = args[0]
		}
		report, err := a.app.ScanSecrets(cmd.Context(), session)
		if err == nil && len(report.Failed) > 0 {
			err = silentError{ExitInternal}
		}
		return printResult(a, report, err, a.printScan)
	}
}

// printScan prints the places of secrets, never a value.
func (a *commands) printScan(r app.ScanReport) error {
	if r.Found == 0 && len(r.Failed) == 0 {
		return a.println("No secrets found in " + count(r.Sessions, "session") + ".")
	}
	t := newTable("KIND", "SESSION", ">LINE", "IN", ">COUNT")
	for _, p := range r.Places {
		t.row(p.Kind, p.Session, fmt.Sprint(p.Line), p.Where, fmt.Sprint(p.Count))
	}
	if err := t.write(a.out, a.width()); err != nil {
		return err
	}
	for _, failed := range r.Failed {
		if err := a.println("cannot read " + failed); err != nil {
			return err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s in %s", count(r.Found, "secret"), count(len(r.Kinds), "kind"), count(r.Sessions, "session"))
	if r.More > 0 {
		fmt.Fprintf(&b, "; %d more places are not listed", r.More)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Kinds)) {
		fmt.Fprintf(&b, "\n  %6d  %s", r.Kinds[kind], kind)
	}
	return a.println(b.String())
}
