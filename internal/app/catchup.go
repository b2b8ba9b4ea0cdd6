package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"strandline/internal/capture"
	"strandline/internal/state"
)

// How long a transcript must be unchanged before it is complete, and how long to
// wait for that. The client writes rows with a delay of a tenth of a second, and
// some after its last hook.
const (
	quietTime = time.Second
	quietWait = 10 * time.Second
)

// CatchUp captures the sessions that hooks deferred. If ended names a session, it
// waits for its last rows first, and does maintenance afterwards if it is due.
// Errors are written to the error log as well.
func (a *App) CatchUp(ctx context.Context, ended capture.PendingWork) error {
	w, err := a.workspace()
	if err != nil {
		return err
	}
	if ended.Session != "" {
		err = w.deferEnded(ctx, ended)
	}
	if err = errors.Join(err, a.catchUp(ctx, w)); err != nil {
		w.Logger().Error("catch up", "event", "catchup", "session", ended.Session, "error", err)
	}
	if ended.Session != "" && w.MaintenanceDue(a.Now()) {
		err = errors.Join(err, a.MaintainInBackground(ctx))
	}
	return err
}

// deferEnded waits until an ended session's transcript is complete, and adds the
// session to the pending ones if it has new bytes.
func (w Workspace) deferEnded(ctx context.Context, ended capture.PendingWork) error {
	src, err := capture.TranscriptSource(ended.Transcript, ended.Session, ended.Cwd)
	if err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, quietWait)
	defer cancel()
	if err := capture.WaitUnchanged(wait, ended.Transcript, quietTime); err != nil && ctx.Err() != nil {
		return err // after the timeout, the available rows are captured
	}
	info, err := os.Stat(ended.Transcript)
	if errors.Is(err, os.ErrNotExist) {
		return nil // the session is empty
	}
	if err != nil {
		return fmt.Errorf("look at the transcript: %w", err)
	}
	if behind, err := w.Capture.HasNewBytes(src, info.Size()); err != nil || !behind {
		return err
	}
	return w.Pending().Add(ended)
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
