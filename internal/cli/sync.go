package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
)

func (a *commands) syncCommand() *cobra.Command {
	var push app.Push
	var url string
	cmd := &cobra.Command{
		Use: "sync", Short: "Push this archive to the team's, in PostgreSQL",
		Long: `Push new rows of this archive to the team's in PostgreSQL: turns, steps, tool calls,
files, tasks, compactions and the passages that searches find, redacted again, under
your name. Logs stay here. Sessions that you delete for good with ` + "`strandline forget`" + ` are
deleted there, and not accepted again. The first sync, even a dry run, creates the tables.

An interrupted sync continues where it stopped, and one without new rows sends nothing.
Settings: postgres.url or postgres.host, postgres.database, postgres.user; the password
comes from PGPASSWORD or ~/.pgpass. With postgres.auto, every maintenance run does a
sync; hooks never do. ` + "`strandline search --team`" + ` searches there.

  strandline sync --dsn postgres://ann@db.example.org/archive`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			bar := a.newProgress("syncing")
			push.Progress = func(done, all int) {
				bar.draw(int64(done), int64(all), fmt.Sprintf("%d/%d sessions", done, all), done == all)
			}
			report, err := a.app.Sync(cmd.Context(), url, push)
			bar.end()
			if errors.Is(err, app.ErrNotLinked) {
				return a.env.Companion(cmd.Context())
			}
			return printResult(a, report, err, a.printSync)
		},
	}
	cmd.Flags().StringVar(&url, "dsn", "", "address of the team's database (default: the settings)")
	cmd.Flags().BoolVar(&push.DryRun, "dry-run", false, "print the plan and change nothing")
	cmd.Flags().BoolVar(&push.Again, "again", false, "push everything again")
	a.jsonFlag(cmd)
	return cmd
}

func (a *commands) printSync(r app.SyncReport) error {
	verb := "pushed"
	if r.DryRun {
		verb = "would be pushed"
	}
	if r.Sessions+r.Facts == 0 {
		fmt.Fprintf(a.out, "Nothing is new: the team's archive has %s of yours.\n", count(r.Unchanged, "session"))
	} else {
		fmt.Fprintf(a.out, "%s %s: %s, %s of text; %d unchanged.\n", count(r.Sessions, "session"), verb, count(r.Passages, "passage"), size(r.Bytes), r.Unchanged)
	}
	for _, d := range r.Deleted {
		fmt.Fprintf(a.out, "%s deleted there for good: %d rows, none is left.\n", archive.ShortID(d.Session), d.Rows)
	}
	if n := len(r.Elsewhere); n > 0 {
		fmt.Fprintf(a.out, "%s left out: deleted from the team's archive for good.\n", count(n, "session"))
	}
	return nil
}
