package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
)

// archiveCommand has the commands that exchange this archive with others of the user.
func (a *commands) archiveCommand(cmd *cobra.Command) {
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	addCommands(cmd,
		command{"", "push PLACE", "Write what is new here to a folder or to another machine", func(cmd *cobra.Command) {
			a.exchangeCommand(cmd, "pushing", a.app.ArchivePush, a.printPush)
			f := cmd.Flags()
			f.Bool("again", false, "push everything to a place whose files are gone")
			f.StringArray("recipient", nil, "encrypt for this age public key; may be repeated")
		}},
		command{"", "pull PLACE", "Bring in what other machines have pushed, and index it", func(cmd *cobra.Command) {
			a.exchangeCommand(cmd, "pulling", a.app.ArchivePull, a.printPull)
		}},
		command{"", "serve PLACE", "Serve a folder to push and pull on another machine", func(cmd *cobra.Command) {
			cmd.Hidden = true
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				return a.app.ServePlace(cmd.Context(), args[0], a.env.Stdin, a.env.Stdout)
			}
		}})
}

func (a *commands) exchangeCommand(cmd *cobra.Command, doing string, run func(context.Context, app.ExchangeOptions) (app.ExchangeReport, error), show func(app.ExchangeReport)) {
	f := cmd.Flags()
	identity := f.String("identity", "", "file with the age secret key that opens encrypted files")
	dry := f.Bool("dry-run", false, "count what is new and change nothing")
	a.jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o := app.ExchangeOptions{Place: args[0], Identity: *identity, DryRun: *dry}
		o.Recipients, _ = f.GetStringArray("recipient") // a pull has none of the two
		o.Again, _ = f.GetBool("again")
		bar := a.newProgress(doing)
		o.Progress = func(done, all int) {
			bar.draw(int64(done), int64(all), fmt.Sprintf("%d/%d sessions", done, all), done == all)
		}
		out, err := run(cmd.Context(), o)
		bar.end()
		if errors.Is(err, app.ErrNotLinked) {
			return a.env.Companion(cmd.Context())
		}
		if err == nil && len(out.Failed) > 0 {
			err = silentError{ExitCorrupt}
		}
		return printResult(a, out, err, func(r app.ExchangeReport) error {
			show(r)
			for _, f := range r.Failed[:min(len(r.Failed), maxShown)] {
				fmt.Fprintf(a.errOut, "left out: %s\n", f)
			}
			if n := len(r.Failed) - maxShown; n > 0 {
				fmt.Fprintf(a.errOut, "… and %d more\n", n)
			}
			return nil
		})
	}
}

func (a *commands) printPush(r app.ExchangeReport) {
	switch {
	case r.Sessions+r.Facts+len(r.Deleted) == 0:
		fmt.Fprintf(a.out, "Nothing is new: %s has %s of this archive.\n", r.Place, count(r.Unchanged, "session"))
	case r.DryRun:
		fmt.Fprintf(a.out, "%s would be pushed to %s.\n", exchanged(r), r.Place)
	default:
		fmt.Fprintf(a.out, "%s pushed to %s: %s there in %s.\n", exchanged(r), r.Place, size(r.Stored), count(r.Packs, "file"))
	}
	if r.Packs > 0 && !r.Sealed {
		fmt.Fprintln(a.errOut, "note: these files hold whole sessions, secrets included; --recipient encrypts them")
	}
	a.printDeleted(r, "there")
}

func (a *commands) printPull(r app.ExchangeReport) {
	switch {
	case r.DryRun && r.Packs > 0:
		fmt.Fprintf(a.out, "%s with something new in %s, %s.\n", count(r.Sessions, "session"), count(r.Packs, "file"), size(r.Stored))
	case r.Sessions+r.Facts+len(r.Deleted) == 0:
		fmt.Fprintf(a.out, "Nothing is new: this archive has all of %s.\n", r.Place)
	default:
		fmt.Fprintf(a.out, "%s pulled from %s and indexed.\n", exchanged(r), r.Place)
	}
	if r.Diverged > 0 {
		fmt.Fprintf(a.out, "%s changed on both machines: both versions are kept, as generations.\n", count(r.Diverged, "log"))
	}
	if r.Outdated > 0 {
		fmt.Fprintf(a.out, "%s left out, with turns that were deleted since: pull and push on the machine that wrote them.\n", count(r.Outdated, "file"))
	}
	a.printDeleted(r, "here")
}

// exchanged counts what is new: "3 sessions (1 new), 4.1 MB".
func exchanged(r app.ExchangeReport) string {
	if r.Sessions == 0 {
		return count(r.Facts, "fact") + " of the journal"
	}
	s := count(r.Sessions, "session")
	switch r.New {
	case 0:
	case r.Sessions:
		s = strings.Replace(s, " ", " new ", 1)
	default:
		s += fmt.Sprintf(" (%d new)", r.New)
	}
	return s + ", " + size(r.Bytes) + ","
}

func (a *commands) printDeleted(r app.ExchangeReport, where string) {
	verb := "deleted"
	if r.DryRun {
		verb = "would be deleted"
	}
	for _, id := range r.Deleted {
		fmt.Fprintf(a.out, "%s %s %s for good.\n", archive.ShortID(id), verb, where)
	}
}
