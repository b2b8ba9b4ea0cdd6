package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/capture"
	"strandline/internal/state"
)

// How long a catch-up waits for the client's last rows. The client writes a tenth
// of a second behind, and some rows when its last hook has run.
const (
	quietTime = time.Second
	quietWait = 10 * time.Second
)

// catchupCommand is what hooks start when their deadline is near, and when a
// session ends; it is not for people. Nobody reads what it prints, so its errors
// go where the hooks' go.
func (a *commands) catchupCommand() *cobra.Command {
	var ended capture.PendingWork
	cmd := &cobra.Command{
		Use: "catchup", Hidden: true, Args: arguments(), Short: "Finish what a hook had to leave",
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := a.app.LenientWorkspace()
			if err != nil {
				return err
			}
			if ended.Session != "" {
				err = leaveEnded(cmd.Context(), r, ended)
			}
			if err = errors.Join(err, a.catchUp(cmd.Context(), r)); err != nil {
				r.Logger().Error("catch up", "event", "catchup", "session", ended.Session, "error", err)
			}
			if ended.Session != "" && r.MaintenanceDue(a.app.Now()) {
				err = errors.Join(err, a.upkeepBehind(cmd.Context()))
			}
			return err
		},
	}
	cmd.Flags().StringVar(&ended.Session, "session", "", "a session that has ended: wait for its last rows")
	cmd.Flags().StringVar(&ended.Transcript, "transcript", "", "its transcript")
	cmd.Flags().StringVar(&ended.Cwd, "cwd", "", "its folder")
	return cmd
}

// leaveEnded waits until the client writes no more into an ended session, and
// notes the session if there is something new in it.
func leaveEnded(ctx context.Context, r app.Workspace, ended capture.PendingWork) error {
	src, err := capture.TranscriptSource(ended.Transcript, ended.Session, ended.Cwd)
	if err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, quietWait)
	defer cancel()
	if err := capture.WaitUnchanged(wait, ended.Transcript, quietTime); err != nil && ctx.Err() != nil {
		return err // the process is asked to end; a client that writes on is captured as far as it got
	}
	info, err := os.Stat(ended.Transcript)
	if errors.Is(err, os.ErrNotExist) {
		return nil // a session without a word
	}
	if err != nil {
		return fmt.Errorf("look at the transcript: %w", err)
	}
	if behind, err := r.Capture.HasNewBytes(src, info.Size()); err != nil || !behind {
		return err
	}
	return r.Pending().Add(ended)
}

// catchUp works until nothing is noted any more. Whoever notes work while
// another catch-up holds the lock relies on its last look.
func (a *commands) catchUp(ctx context.Context, r app.Workspace) error {
	for r.Pending().Any() {
		lock, err := state.TryLock(r.File("catchup.lock"))
		if errors.Is(err, state.ErrHeld) {
			return nil
		}
		if err != nil {
			return err
		}
		if err = errors.Join(a.workOff(ctx, r), lock.Release()); err != nil {
			return err
		}
	}
	return nil
}

// workOff takes up everything that is noted now. The logs come first and need no
// index, which may be what kept the hook from its work.
func (a *commands) workOff(ctx context.Context, r app.Workspace) error {
	noted, err := r.Pending().List()
	if err != nil {
		return err
	}
	for _, w := range noted {
		// What fails here fails again below and is told there.
		_, _ = r.Capture.LogPending(ctx, w)
	}
	s, err := a.app.Stores.OpenIndex(ctx, r.Config.Paths.Index(), app.ReadWrite)
	if err != nil {
		return err
	}
	_, err = a.app.MaintenanceRunner(r).CatchUp(ctx, s)
	_, embedding := a.app.EmbedSome(ctx, app.Archive{Workspace: r, Index: s})
	err = errors.Join(err, r.Journal.Sync(ctx, s), embedding)
	return errors.Join(err, s.Close())
}
