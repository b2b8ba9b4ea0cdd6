package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
)

func (a *commands) verifyCommand(cmd *cobra.Command) {
	each := false
	repair := cmd.Flags().Bool("repair", false, "take unreadable bytes from the client's files where these exist")
	query(a, cmd, func(ctx context.Context, args []string) ([]app.LogCheck, error) {
		each = len(args) > 0
		checks, err := a.app.Verify(ctx, argument(args), *repair)
		if err == nil && badLogs(checks) > 0 {
			err = silentError{ExitCorrupt}
		}
		return checks, err
	}, func(checks []app.LogCheck) error { return a.printChecks(checks, each) })
}

func badLogs(checks []app.LogCheck) (n int) {
	for _, c := range checks {
		if !c.OK {
			n++
		}
	}
	return n
}

// printChecks prints the errors and, if each is set, all logs.
func (a *commands) printChecks(checks []app.LogCheck, each bool) error {
	p, bad := a.paint(), badLogs(checks)
	var total int64
	unread := 0
	for _, c := range checks {
		total += c.Bytes
		if c.SourceError != "" {
			unread++
		}
		if c.Repaired > 0 {
			fmt.Fprintf(a.out, "%s %s: %s were taken from the client's file again\n", p.green("✓"), c.Log, size(c.Repaired))
		}
		switch {
		case c.Error != "":
			fmt.Fprintf(a.out, "%s %s: %s\n", p.red("✗"), c.Log, c.Error)
			a.printHoles(c.Holes)
		case c.Source == "changing":
			fmt.Fprintf(a.out, "%s %s: another process kept writing it; verify it again later\n", p.yellow("!"), c.Log)
		case c.Torn > 0:
			fmt.Fprintf(a.out, "%s %s: %s at its end are torn; the next capture takes them from the client's file again\n", p.yellow("!"), c.Log, size(c.Torn))
		case c.SourceError != "":
			fmt.Fprintf(a.out, "%s %s: the log is good; it could not be compared with the client's file: %s\n", p.yellow("!"), c.Log, c.SourceError)
		case each:
			fmt.Fprintf(a.out, "%s %s  %d bytes, %d lines, client's file: %s\n  sha256 %s\n", p.green("✓"), c.Log, c.Bytes, c.Lines, c.Source, c.SHA256)
			if c.Forgotten > 0 {
				fmt.Fprintf(a.out, "  %s of it were forgotten; the client's file is compared without them\n", size(c.Forgotten))
			}
		}
	}
	fmt.Fprintf(a.out, "%s, %s: %d good, %d bad", count(len(checks), "log"), size(total), len(checks)-bad, bad)
	if unread > 0 {
		fmt.Fprintf(a.out, "; %s of the client could not be read", count(unread, "file"))
	}
	return a.println("")
}

// printHoles prints where a log is damaged, if in several places.
func (a *commands) printHoles(holes []app.LogHole) {
	if len(holes) < 2 {
		return
	}
	for _, h := range holes {
		fmt.Fprintf(a.out, "  %d bytes from byte %d on (bytes %d to %d of the file)\n", h.Bytes, h.Offset, h.FileOffset, h.FileOffset+h.FileBytes)
	}
}

func (a *commands) doctorCommand(cmd *cobra.Command) {
	fix := cmd.Flags().Bool("fix", false, "remove what can be removed without asking: missing hooks and plugin files, open permissions, deferred work")
	query(a, cmd, func(ctx context.Context, _ []string) ([]app.Finding, error) {
		findings, err := a.app.Doctor(ctx)
		if *fix && err == nil {
			fixed, ferr := a.app.Fix(findings)
			for _, f := range fixed {
				fmt.Fprintf(a.errOut, "fixed: %s\n", f.Msg)
			}
			findings, err = a.app.Doctor(ctx)
			err = errors.Join(ferr, err)
		}
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
