package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/app/maintenance"
	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

func (a *commands) syncCommand() *cobra.Command {
	var dsn string
	var dry, again, asJSON bool
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Bring this archive to the team's, in PostgreSQL",
		Long: `Bring what is new in this archive to the team's in PostgreSQL: turns, steps, tool calls,
files, tasks, compactions and the passages that searches find, redacted once more, under
your name. Logs stay here. What was deleted here for good with ` + "`strandline forget`" + ` is
deleted there, and not taken in again. The first sync, a dry run too, makes the tables.

A sync that was interrupted goes on where it was, and one that has nothing new sends
nothing. Settings: postgres.url or postgres.host, postgres.database, postgres.user; a
password comes from PGPASSWORD or ~/.pgpass. With postgres.auto every pass of upkeep
does a sync; hooks never do. ` + "`strandline search --team`" + ` searches there.

  strandline sync --dsn postgres://ann@db.example.org/archive`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !a.app.Stores.LinksTeam() {
				return a.env.Companion(cmd.Context())
			}
			return a.app.WithArchive(cmd.Context(), app.ReadOnly, func(x app.Archive) error {
				if dsn != "" {
					x.Config.Postgres.URL = dsn
				}
				return a.sync(cmd.Context(), x, maintenance.Push{DryRun: dry, Again: again}, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&dsn, "dsn", "", "address of the team's database (default: the settings)")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be brought and change nothing")
	cmd.Flags().BoolVar(&again, "again", false, "bring everything anew")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *commands) sync(ctx context.Context, x app.Archive, p maintenance.Push, asJSON bool) error {
	lock, err := x.Lock("sync", "sync")
	if err != nil {
		return err
	}
	defer lock.Release() // it ends with the process in any case
	start := a.app.Now()
	bar := a.newProgress("syncing", asJSON)
	p.Progress = func(done, all int, _ string) {
		bar.draw(int64(done), int64(all), fmt.Sprintf("%d/%d sessions", done, all), done == all)
	}
	report, err := a.push(ctx, x, p)
	bar.end()
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(struct {
			maintenance.PushReport
			TookMS int64 `json:"took_ms"`
		}{report, a.app.Now().Sub(start).Milliseconds()})
	}
	a.printPush(report)
	return nil
}

func (a *commands) printPush(r maintenance.PushReport) {
	verb := "brought"
	if r.DryRun {
		verb = "would be brought"
	}
	if r.Sessions+r.Facts == 0 {
		fmt.Fprintf(a.out, "Nothing is new: the team's archive has %s of yours.\n", count(r.Unchanged, "session"))
	} else {
		fmt.Fprintf(a.out, "%s %s: %s, %s of text; %d unchanged.\n", count(r.Sessions, "session"), verb, count(r.Passages, "passage"), size(r.Bytes), r.Unchanged)
	}
	for _, d := range r.Deleted {
		fmt.Fprintf(a.out, "%s deleted there for good: %d rows went, none is left.\n", archive.ShortID(d.Session), d.Rows)
	}
	if n := len(r.Elsewhere); n > 0 {
		fmt.Fprintf(a.out, "%s left out: deleted from the team's archive for good.\n", count(n, "session"))
	}
}

// push does a push of an open index.
func (a *commands) push(ctx context.Context, x app.Archive, p maintenance.Push) (r maintenance.PushReport, err error) {
	if !x.Config.Redact.Enabled {
		return r, archive.Invalid("redact.enabled is false, and nothing leaves this machine unredacted", "switch it on for a sync")
	}
	addr, err := a.app.TeamAddress(x.Config, true)
	if err != nil {
		return r, err
	}
	if p.Deleted, err = deletedHere(ctx, x); err != nil {
		return r, err
	}
	remote, err := a.app.Stores.OpenTeam(ctx, addr)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, remote.Index.Close()) }()
	p.Local, p.Remote, p.Redact, p.Pause = x.Index, remote.Remote, x.Redact, maintenance.Backoff
	p.Author, p.Machine = addr.Author, addr.Machine
	return p.Run(ctx)
}

// deletedHere reads from the journal what was deleted for good.
func deletedHere(ctx context.Context, x app.Archive) (d maintenance.Deleted, err error) {
	entries, _, err := x.Journal.Log.Read(ctx, sessionlog.JournalCursor{})
	if err != nil {
		return d, fmt.Errorf("look into the journal: %w", err)
	}
	d.Parts = map[string]archive.Part{}
	for _, e := range entries {
		var part archive.Part
		switch {
		case e.Kind == archive.JournalForget && archive.ValidID(e.Session):
			d.Sessions = append(d.Sessions, e.Session)
		case e.Kind == archive.JournalForgetPart && json.Unmarshal(e.Data, &part) == nil:
			d.Parts[e.ID] = part
		}
	}
	return d, nil
}

// leavesSync reports that the settings ask for a sync in each pass of upkeep, which
// this program links no driver for, and that another one does.
func (a *commands) leavesSync() bool {
	if a.app.Stores.LinksTeam() {
		return false
	}
	cfg, _ := a.app.Settings() // what is wrong with them is told where they are used
	if !cfg.Postgres.Auto {
		return false
	}
	found, err := a.app.System.FindCompanion()
	return err == nil && found != ""
}

// syncStep is a sync as a stage of upkeep, where the settings ask for it.
func (a *commands) syncStep(x app.Archive) []maintenance.Step {
	if !x.Config.Postgres.Auto || !a.app.Stores.LinksTeam() {
		return nil
	}
	return []maintenance.Step{{Name: "sync", Run: func(ctx context.Context, _ maintenance.Index, st *maintenance.Stage) error {
		lock, err := x.Lock("sync", "sync")
		if archive.ErrorCode(err) == archive.CodeBusy {
			return nil // it does the work
		}
		if err != nil {
			return err
		}
		defer lock.Release() // it ends with the process in any case
		r, err := a.push(ctx, x, maintenance.Push{})
		st.Done = r.Sessions + len(r.Deleted)
		return err
	}}}
}
