package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/config"
)

// Remote is the team's database, as one author sees it.
type Remote interface {
	// Pushed returns the author's sessions by ID and how far each was pushed.
	Pushed(ctx context.Context) (map[string]archive.Cursor, error)
	// Forgotten lists the permanent deletions in the team's database: session IDs, and
	// fact IDs of parts.
	Forgotten(ctx context.Context) (map[string]bool, error)
	// Apply stores a batch; see archive.Batch. Offsets count lines.
	Apply(ctx context.Context, b archive.Batch) error
	Retire(ctx context.Context, session string, generation int) error
	ApplyJournal(ctx context.Context, entries []archive.JournalEntry, cursor []byte) error
	Recorded(ctx context.Context, ids []string) (map[string]bool, error)
	// Remove deletes all rows of the author's session, sub-agents' runs and older
	// generations included, and returns their number. It fails if a row is left.
	// With a fact, the database rejects the session or part from then on.
	Remove(ctx context.Context, session string, fact string) (rows int64, err error)
}

// Deleted lists the permanent deletions in the local journal.
type Deleted struct {
	Sessions []string
	Parts    map[string]archive.Part // by the ID of the fact
}

// Push copies one person's index to the team's database: the rows derived from
// the sessions, redacted again, under the person's name. It does not read logs.
//
// The database itself stores, in the transaction of the rows, how far each
// session was pushed. An interrupted push therefore continues where it stopped,
// and one without new rows sends nothing.
type Push struct {
	Local  *Index
	Remote Remote
	// Redact is applied to every text that is sent.
	Redact func(string) string
	// Author and Machine qualify projects without a remote.
	Author, Machine string
	Deleted         Deleted
	Again           bool // push everything again
	DryRun          bool // send nothing
	// Progress, unless nil, is called after each session.
	Progress func(done, all int)
	// Pause, unless nil, waits before a retry after a lost connection.
	Pause func(ctx context.Context, tries int) error
}

// PushReport is the outcome of a push.
type PushReport struct {
	Sessions  int       `json:"sessions"` // with new rows
	Unchanged int       `json:"unchanged"`
	Passages  int       `json:"passages"`
	Bytes     int64     `json:"bytes"` // of the passages' texts
	Facts     int       `json:"facts"` // summaries of hooks and segments
	Batches   int       `json:"batches"`
	Deleted   []Removed `json:"deleted,omitempty"`
	// Elsewhere are local sessions that were deleted from the team's database.
	Elsewhere []string `json:"deleted_elsewhere,omitempty"`
	DryRun    bool     `json:"dry_run,omitempty"`
	TookMS    int64    `json:"took_ms"` // set by Sync
}

// Removed is a session that was deleted from the team's database.
type Removed struct {
	Session string `json:"session"`
	Rows    int64  `json:"rows"`
}

// maxTries is how often a step is tried while the connection is lost.
const maxTries = 4

// Run pushes. After an error, the report covers the rows pushed before it.
func (p Push) Run(ctx context.Context) (PushReport, error) {
	r := PushReport{DryRun: p.DryRun}
	gone, err := retry(ctx, p, p.Remote.Forgotten)
	if err != nil {
		return r, err
	}
	if err := p.pushDeletions(ctx, gone, &r); err != nil {
		return r, err
	}
	pushed, err := retry(ctx, p, p.Remote.Pushed)
	if err != nil {
		return r, err
	}
	if p.Again {
		if err := p.removeAll(ctx, pushed); err != nil {
			return r, err
		}
	}
	sessions, err := p.Local.Sessions(ctx, archive.SessionFilter{Agents: true})
	if err != nil {
		return r, fmt.Errorf("list the sessions: %w", err)
	}
	slices.Reverse(sessions) // oldest first, so that newer sessions get larger row IDs
	if err := p.retire(ctx, sessions, pushed); err != nil {
		return r, err
	}
	var denied []error // another author's session does not stop the push
	for i, s := range sessions {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		if gone[archive.Owner(s.ID)] {
			r.Elsewhere = append(r.Elsewhere, s.ID)
			continue
		}
		switch err := p.session(ctx, s, pushed, &r); {
		case archive.ErrorCode(err) == archive.CodeDenied:
			denied = append(denied, err)
		case err != nil:
			return r, fmt.Errorf("session %s: %w", archive.ShortID(s.ID), err)
		}
		if p.Progress != nil {
			p.Progress(i+1, len(sessions))
		}
	}
	err = p.segments(ctx, gone, &r)
	return r, errors.Join(append(denied, err)...)
}

// removeAll deletes all earlier pushed rows.
func (p Push) removeAll(ctx context.Context, pushed map[string]archive.Cursor) error {
	for id := range pushed {
		if !p.DryRun && archive.Owner(id) == id {
			if err := p.try(ctx, func() error { _, err := p.Remote.Remove(ctx, id, ""); return err }); err != nil {
				return err
			}
		}
	}
	clear(pushed)
	return nil
}

// try calls do, again if the connection was lost.
func (p Push) try(ctx context.Context, do func() error) error {
	for n := 1; ; n++ {
		err := do()
		if err == nil || archive.ErrorCode(err) != archive.CodeBusy || n == maxTries || ctx.Err() != nil {
			return err
		}
		if p.Pause != nil {
			if perr := p.Pause(ctx, n); perr != nil {
				return errors.Join(err, perr)
			}
		}
	}
}

func retry[T any](ctx context.Context, p Push, do func(context.Context) (T, error)) (out T, err error) {
	err = p.try(ctx, func() (err error) { out, err = do(ctx); return err })
	return out, err
}

// pushDeletions repeats local deletions in the team's database. Of a
// session with a deleted part all rows are deleted; the rest is pushed again.
func (p Push) pushDeletions(ctx context.Context, gone map[string]bool, r *PushReport) error {
	remove := func(session, fact string) error {
		if gone[fact] || gone[session] || p.DryRun {
			return nil
		}
		err := p.try(ctx, func() error {
			rows, err := p.Remote.Remove(ctx, session, fact)
			if err == nil && rows > 0 {
				r.Deleted = append(r.Deleted, Removed{Session: session, Rows: rows})
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("delete rows of session %s from the team's database: %w", archive.ShortID(session), err)
		}
		return nil
	}
	for _, session := range p.Deleted.Sessions {
		if err := remove(session, session); err != nil {
			return err
		}
		gone[session] = true
	}
	for fact, part := range p.Deleted.Parts {
		for _, session := range part.Sessions {
			if err := remove(session, fact+" in "+session); err != nil {
				return err
			}
		}
	}
	return nil
}

// TeamProject returns a project as the team's database names it. Clones of one
// remote are the same project for every author. Any other project is qualified
// with author and machine. Local paths are left out.
func TeamProject(p archive.Project, author, machine string) archive.Project {
	switch {
	case p.Key == "":
		return archive.Project{}
	case p.Remote != "" && p.Remote[0] != '/':
		return archive.Project{Key: "remote:" + p.Remote, Name: p.Name, Remote: p.Remote}
	}
	return archive.Project{Key: p.Key + " of " + author + " on " + machine, Name: p.Name}
}

// Backoff is a Pause of one second, then two, then four.
func Backoff(ctx context.Context, n int) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Second << (n - 1)):
		return nil
	}
}

// Sync pushes new rows to the team's database at url; "" is that of the settings. Of
// push, the flags and Progress count. It returns ErrNotLinked if the driver is not
// linked.
func (a *App) Sync(ctx context.Context, url string, push Push) (PushReport, error) {
	if !a.Stores.LinksTeam() {
		return PushReport{}, ErrNotLinked
	}
	return read(ctx, a, func(x Archive) (PushReport, error) {
		x.Config.Postgres.URL = cmp.Or(url, x.Config.Postgres.URL)
		start := a.Now()
		report, err := a.sync(ctx, x, push)
		report.TookMS = a.Now().Sub(start).Milliseconds()
		return report, err
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
		if part, ok := archive.FactOf[archive.Part](&e); ok && e.Kind == archive.JournalForgetPart {
			d.Parts[e.ID] = part
		} else if e.Kind == archive.JournalForget && archive.ValidID(e.Session) {
			d.Sessions = append(d.Sessions, e.Session)
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
	cfg, _ := a.Settings() // errors are reported where settings are used
	if a.Stores.LinksTeam() || !cfg.Postgres.Auto {
		return false
	}
	found, err := a.System.FindCompanion()
	return err == nil && found != ""
}
