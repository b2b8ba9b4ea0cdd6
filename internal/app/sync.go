package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"strandline/internal/archive"
	"strandline/internal/config"
)

// SyncReport is the outcome of a sync.
type SyncReport struct {
	PushReport
	TookMS int64 `json:"took_ms"`
}

// Sync pushes new rows to the team's database at url; "" is that of the settings. Of
// push, the flags and Progress count. It returns ErrNotLinked if the driver is not
// linked.
func (a *App) Sync(ctx context.Context, url string, push Push) (SyncReport, error) {
	if !a.Stores.LinksTeam() {
		return SyncReport{}, ErrNotLinked
	}
	return read(ctx, a, func(x Archive) (SyncReport, error) {
		x.Config.Postgres.URL = cmp.Or(url, x.Config.Postgres.URL)
		start := a.Now()
		report, err := a.sync(ctx, x, push)
		return SyncReport{report, a.Now().Sub(start).Milliseconds()}, err
	})
}

// sync pushes an open index, unless another process does.
func (a *App) sync(ctx context.Context, x Archive, push Push) (report PushReport, err error) {
	lock, err := x.Lock("sync", "sync")
	if err != nil {
		return report, err
	}
	defer lock.Release() // also released when the process ends
	if !x.Config.Redact.Enabled {
		return report, archive.Invalid("redact.enabled is false, and nothing leaves this machine unredacted", "switch it on for a sync")
	}
	address, err := a.TeamAddress(x.Config, true)
	if err != nil {
		return report, err
	}
	if push.Deleted, err = x.deleted(ctx); err != nil {
		return report, err
	}
	remote, err := a.Stores.OpenTeam(ctx, address)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, remote.Index.Close()) }()
	push.Local, push.Remote, push.Redact, push.Pause = x.Index, remote.Remote, x.Redact, Backoff
	push.Author, push.Machine = address.Author, address.Machine
	return push.Run(ctx)
}

// deleted reads the permanent deletions from the journal.
func (w Workspace) deleted(ctx context.Context) (d Deleted, err error) {
	entries, err := journalEntries(ctx, w.Journal, archive.JournalForget, archive.JournalForgetPart)
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
	return d, err
}

// TeamAddress returns the address of the team's database in the settings.
func (a *App) TeamAddress(cfg *config.Config, write bool) (TeamAddress, error) {
	p := cfg.Postgres
	if cmp.Or(p.URL, p.Host, p.Database, a.Getenv("PGHOST"), a.Getenv("PGDATABASE"), a.Getenv("PGSERVICE")) == "" {
		return TeamAddress{}, archive.Invalid("the address of the team's archive is not set",
			"strandline config set postgres.url postgres://USER@HOST/DATABASE")
	}
	return TeamAddress{
		Postgres: p, Password: a.Getenv("RUVECTOR_PASSWORD"), Write: write,
		Author:  cmp.Or(p.Author, a.Getenv("USER"), a.Getenv("USERNAME"), "unknown"),
		Machine: cmp.Or(a.Machine, "unknown machine"),
	}, nil
}

// NeedsTeamDriver reports whether the settings ask for a sync in each maintenance
// run, but only the companion program links the driver.
func (a *App) NeedsTeamDriver() bool {
	if a.Stores.LinksTeam() {
		return false
	}
	if cfg, _ := a.Settings(); !cfg.Postgres.Auto { // errors are reported where settings are used
		return false
	}
	found, err := a.System.FindCompanion()
	return err == nil && found != ""
}
