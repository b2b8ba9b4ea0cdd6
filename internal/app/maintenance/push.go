// Package team brings one person's archive to the team's: what is derived of the
// sessions, redacted once more, under the name of who worked in them. It reads the
// index, never the logs, and what it may send is what it builds here.
//
// How far a session was brought stands in the team's archive itself, beside its
// rows and in the same transaction. A push that was interrupted, at whatever
// moment, therefore goes on where it was, and one that has nothing to bring sends
// nothing: nothing is noted on this side.
package maintenance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"strandline/internal/archive"
)

// Local is what a push reads.
type Local interface {
	Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error)
	Turns(ctx context.Context, s archive.Span) ([]archive.Turn, error)
	Steps(ctx context.Context, s archive.Span) ([]archive.Step, error)
	Calls(ctx context.Context, s archive.CallSpan) ([]archive.Call, error)
	Passages(ctx context.Context, s archive.PassageSpan) ([]archive.Passage, error)
	Files(ctx context.Context, s archive.Span) ([]archive.FileTouch, error)
	Tasks(ctx context.Context, s archive.Span) ([]archive.TaskEvent, error)
	Compactions(ctx context.Context, s archive.Span) ([]archive.Compaction, error)
	HookSummaries(ctx context.Context, session string) ([]archive.HookSummary, error)
	Facts(ctx context.Context, session string, kind archive.JournalKind) ([]archive.JournalEntry, error)
}

// Remote is the team's archive.
type Remote interface {
	// Pushed says how far this person's sessions have been brought, by their ids.
	Pushed(ctx context.Context) (map[string]archive.Cursor, error)
	// Forgotten lists the sessions, and the parts of sessions by names of
	// their own, that were deleted from the team's archive for good.
	Forgotten(ctx context.Context) (map[string]bool, error)
	// Apply stores a batch; see archive.Batch. Here offsets count lines.
	Apply(ctx context.Context, b archive.Batch) error
	Retire(ctx context.Context, session string, generation int) error
	ApplyJournal(ctx context.Context, entries []archive.JournalEntry, cursor []byte) error
	Recorded(ctx context.Context, ids []string) (map[string]bool, error)
	// Remove deletes this person's session with all rows, its sub-agents' runs and
	// older generations; returns how many rows went, and fails if any is left.
	// With a fact it is deleted for good: it is not taken in again.
	Remove(ctx context.Context, session string, fact string) (rows int64, err error)
}

// Deleted is what the journal says was deleted for good here.
type Deleted struct {
	Sessions []string
	// Parts are turns or steps, by the identity of the fact that deleted them.
	Parts map[string]archive.Part
}

// Push is one push.
type Push struct {
	Local  Local
	Remote Remote
	// Redact is applied to every text before it leaves.
	Redact func(string) string
	// Author and Machine say who this is, where a project has no remote of its own.
	Author, Machine string
	Deleted         Deleted
	// Again brings everything anew, whatever is there.
	Again bool
	// DryRun says what would be brought.
	DryRun bool
	// Progress, unless nil, is told of each session.
	Progress func(done, all int, session string)
	// Pause waits before a try that follows a lost connection; nil does not wait.
	Pause func(ctx context.Context, tries int) error
}

// Report is what a push did.
type Report struct {
	Sessions  int       `json:"sessions"` // that had something new
	Unchanged int       `json:"unchanged"`
	Passages  int       `json:"passages"`
	Bytes     int64     `json:"bytes"` // of their texts
	Facts     int       `json:"facts"` // summaries of hooks and segments
	Batches   int       `json:"batches"`
	Deleted   []Removed `json:"deleted,omitempty"`
	// Elsewhere are sessions that are still here and that somebody deleted from the
	// team's archive for good.
	Elsewhere []string `json:"deleted_elsewhere,omitempty"`
	DryRun    bool     `json:"dry_run,omitempty"`
}

// Removed is a session that was deleted from the team's archive, and that nothing of
// it is left.
type Removed struct {
	Session string `json:"session"`
	Rows    int64  `json:"rows"` // that went; none are left
}

// tries is how often one step is done when the connection is lost.
const tries = 4

// Run pushes. What was brought before an error is there, and the report says so.
func (p Push) Run(ctx context.Context) (Report, error) {
	r := Report{DryRun: p.DryRun}
	var gone map[string]bool
	if err := p.try(ctx, func() (err error) { gone, err = p.Remote.Forgotten(ctx); return err }); err != nil {
		return r, err
	}
	if err := p.carryDeletions(ctx, gone, &r); err != nil {
		return r, err
	}
	var pushed map[string]archive.Cursor
	if err := p.try(ctx, func() (err error) { pushed, err = p.Remote.Pushed(ctx); return err }); err != nil {
		return r, err
	}
	if err := p.dropAll(ctx, pushed); err != nil {
		return r, err
	}
	sessions, err := p.Local.Sessions(ctx, archive.SessionFilter{Agents: true})
	if err != nil {
		return r, fmt.Errorf("list the sessions: %w", err)
	}
	slices.Reverse(sessions) // oldest first, so that newer ones have the larger numbers there too
	if err := p.retire(ctx, sessions, pushed); err != nil {
		return r, err
	}
	var refused []error // what others brought does not keep one's own from coming
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
			refused = append(refused, err)
		case err != nil:
			return r, fmt.Errorf("session %s: %w", archive.ShortID(s.ID), err)
		}
		if p.Progress != nil {
			p.Progress(i+1, len(sessions), s.ID)
		}
	}
	err = p.segments(ctx, gone, &r)
	return r, errors.Join(append(refused, err)...)
}

// dropAll removes what was brought before, where all is brought anew.
func (p Push) dropAll(ctx context.Context, pushed map[string]archive.Cursor) error {
	if !p.Again {
		return nil
	}
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

// try does something again when the connection was lost on the way.
func (p Push) try(ctx context.Context, do func() error) error {
	for n := 1; ; n++ {
		err := do()
		if err == nil || archive.ErrorCode(err) != archive.CodeBusy || n == tries || ctx.Err() != nil {
			return err
		}
		if p.Pause != nil {
			if perr := p.Pause(ctx, n); perr != nil {
				return errors.Join(err, perr)
			}
		}
	}
}

// carryDeletions deletes in the team's archive what was deleted here. Of a session
// of which a part was deleted all rows go; what is left of it is brought again.
func (p Push) carryDeletions(ctx context.Context, gone map[string]bool, r *Report) error {
	remove := func(session, fact string) error {
		if gone[fact] || gone[session] || p.DryRun {
			return nil
		}
		return p.try(ctx, func() error {
			rows, err := p.Remote.Remove(ctx, session, fact)
			if err == nil && rows > 0 {
				r.Deleted = append(r.Deleted, Removed{Session: session, Rows: rows})
			}
			return err
		})
	}
	for _, session := range p.Deleted.Sessions {
		if err := remove(session, session); err != nil {
			return fmt.Errorf("delete session %s from the team's archive: %w", archive.ShortID(session), err)
		}
		gone[session] = true
	}
	for fact, part := range p.Deleted.Parts {
		for _, session := range part.Sessions {
			if err := remove(session, fact+" in "+session); err != nil {
				return fmt.Errorf("delete a part of session %s from the team's archive: %w", archive.ShortID(session), err)
			}
		}
	}
	return nil
}

// Project is how a team names a project. One with a remote is the same project for
// everybody who has a clone of it; any other is this person's on this machine.
// Where it lies on somebody's disk is not told.
func Project(p archive.Project, author, machine string) archive.Project {
	switch {
	case p.Key == "":
		return archive.Project{}
	case p.Remote != "" && p.Remote[0] != '/':
		return archive.Project{Key: "remote:" + p.Remote, Name: p.Name, Remote: p.Remote}
	}
	return archive.Project{Key: p.Key + " of " + author + " on " + machine, Name: p.Name}
}

// Backoff is a Pause that waits a second, then two, then four.
func Backoff(ctx context.Context, n int) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Second << (n - 1)):
		return nil
	}
}
