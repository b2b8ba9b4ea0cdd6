package app

import (
	"context"
	"errors"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/state"
	"strandline/internal/usage"
)

// How long a transcript must be unchanged before it is complete, and how long to
// wait for that. The client writes rows with a delay of a tenth of a second, and
// some after its last hook.
const (
	quietTime = time.Second
	quietWait = 10 * time.Second
)

// CatchUp captures the sessions that hooks deferred. If ended names a session, it
// waits for its last rows first; afterwards it looks for finished work in the session, and
// does maintenance if it is due. reindex rebuilds the index first, unless another process does.
// Errors are written to the error log as well.
func (a *App) CatchUp(ctx context.Context, ended capture.PendingWork, reindex bool) error {
	w, err := a.workspace()
	if err != nil {
		return err
	}
	if ended.Session != "" {
		err = w.deferEnded(ctx, ended)
	}
	if !exists(w.Config.Paths.Home) {
		return err
	}
	if reindex && exists(w.File("log")) {
		_, rerr := a.rebuildIndex(ctx, w, nil)
		err = errors.Join(err, rerr)
	}
	if err = errors.Join(err, a.catchUp(ctx, w), a.conclude(ctx, w, ended.Session)); err != nil && !archive.OnlyBusy(err) && ctx.Err() == nil { // else the next one does it
		w.Logger().Error("catch up", "event", "catchup", "session", ended.Session, "error", err)
	}
	if ended.Session != "" && MaintenanceDue(w.Config, a.Now()) {
		err = errors.Join(err, a.MaintainInBackground(ctx))
	}
	return err
}

// deferEnded waits until an ended session's transcript is complete, and adds the
// session to the pending ones: for its new bytes, and to check the end of its log, which
// hooks do not.
func (w Workspace) deferEnded(ctx context.Context, ended capture.PendingWork) error {
	if _, err := w.Capture.SourceOf(ended.Client, ended.Transcript, ended.Session, ended.Cwd); err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, quietWait)
	defer cancel()
	if err := capture.WaitUnchanged(wait, ended.Transcript, quietTime); err != nil && ctx.Err() != nil {
		return err // after the timeout, the available rows are captured
	}
	if !exists(w.Config.Paths.Home) {
		return nil // the archive was removed meanwhile
	}
	if !exists(ended.Transcript) {
		return nil // the session is empty
	}
	return w.Pending().Add(ended)
}

// conclude looks for finished work in a session whose turn or last turn ended, if its
// context window is full enough.
func (a *App) conclude(ctx context.Context, w Workspace, session string) error {
	set := w.Config.Segments
	known, kept := usage.Store{Dir: w.Config.Paths.State()}.Session(session)
	if !kept || set.Disabled || !set.ForceCheck && known.LastPercentage*100 < float64(set.QueueAt) {
		return nil
	}
	_, err := a.CheckSegments(ctx, SegmentCheck{Session: session, IfDue: true})
	if archive.ErrorCode(err) == archive.CodeNotFound { // another catch-up is indexing it
		return nil
	}
	return err
}

// catchUp works until no session is pending. A process that adds one while another
// holds the lock relies on the other's last check.
func (a *App) catchUp(ctx context.Context, w Workspace) error {
	for w.Pending().Any() {
		lock, err := state.TryLock(w.File("catchup.lock"))
		if errors.Is(err, state.ErrHeld) {
			return nil
		}
		if err != nil {
			return err
		}
		if err = errors.Join(a.capturePending(ctx, w), lock.Release()); err != nil {
			return err
		}
	}
	return nil
}

// pendingWait is how long a question waits for the rows of turns that have just ended. A
// turn needs some hundredths of a second.
const pendingWait = time.Second

// indexPending indexes what hooks have left to the catch-up, so that a question sees a turn
// that has just ended. What is not done in time, the catch-up does.
func (a *App) indexPending(ctx context.Context, w Workspace) {
	if !w.Pending().Any() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, pendingWait)
	defer cancel()
	lock, err := state.WaitLock(ctx, w.File("catchup.lock"), false)
	if err != nil {
		return // not writable, or the catch-up has more to do
	}
	defer lock.Release() // also released when the process ends
	_ = a.useIndex(ctx, w, FastWrite, func(x Archive) error {
		_, err := a.runner(w).CatchUp(ctx, x.Index)
		return err
	})
}

// capturePending captures the sessions that are pending now. It writes the logs
// first: they do not need the index, which may be what made the hook defer.
func (a *App) capturePending(ctx context.Context, w Workspace) error {
	pending, err := w.Pending().List()
	if err != nil {
		return err
	}
	for _, p := range pending {
		_, _ = w.Capture.LogPending(ctx, p) // CatchUp below reports the same error
	}
	return a.withIndex(ctx, w, FastWrite, func(x Archive) error {
		_, err := a.runner(w).CatchUp(ctx, x.Index)
		_, eerr := a.embedNewest(ctx, x)
		return errors.Join(err, w.Journal.Sync(ctx, x.Index), eerr)
	})
}
