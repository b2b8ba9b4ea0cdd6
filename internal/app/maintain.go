package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/recall"
	"strandline/internal/state"
	"strandline/internal/usage"
)

// Maintain does a maintenance run. compacting drops the index's copy of texts
// outside the hot set.
func (a *App) Maintain(ctx context.Context, compacting bool) ([]Stage, error) {
	w, err := a.Workspace()
	if err != nil {
		return nil, err
	}
	lock, err := w.Lock("maintain", "maintenance run")
	if err != nil {
		return nil, err
	}
	defer lock.Release() // also released when the process ends
	return a.maintain(ctx, w, effort{embed: a.embedAll, compacting: compacting})
}

// MaintainInBackground does a short maintenance run at low priority, unless another
// process does one. Errors are written to the error log as well.
func (a *App) MaintainInBackground(ctx context.Context) error {
	w, err := a.lenientWorkspace()
	if err != nil {
		return err
	}
	a.System.LowerPriority()
	lock, err := state.TryLock(w.File("maintain.lock"))
	if errors.Is(err, state.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Release() // also released when the process ends
	stages, err := a.maintain(ctx, w, effort{embed: a.embedNewest, learn: backgroundLearn})
	if err = errors.Join(err, StageErrors(stages)); err != nil {
		w.Logger().Error("maintenance", "event", "maintain", "error", err)
	}
	return err
}

// effort is how much a maintenance run does.
type effort struct {
	embed      func(context.Context, Archive) (int, error)
	learn      int // see maintenance.Runner.LearnLimit
	compacting bool
}

// backgroundLearn limits the compactions that a background run learns from. Each
// takes some hundredths of a second.
const backgroundLearn = 20

// maintain does a run. Then, with the index closed, it completes interrupted
// deletions and deletes expired sessions.
func (a *App) maintain(ctx context.Context, w Workspace, how effort) (stages []Stage, err error) {
	f := w.forgetter()
	open, failed := f.Open(ctx) // before anything is captured
	parts, perr := f.OpenParts(ctx)
	failed = errors.Join(failed, perr)
	var expired []string
	err = a.withIndex(ctx, w, ReadWrite, func(x Archive) error {
		stages = a.runMaintenance(ctx, x, how)
		if failed == nil {
			expired, failed = f.Expired(ctx, x.Index, w.retention(how.compacting), a.Now())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	st := Stage{Name: "forget"}
	start := a.Now()
	for _, session := range expired {
		if failed == nil {
			failed = f.Begin(ctx, session, archive.ForgetOld)
		}
	}
	if all := slices.Concat(open, expired); failed == nil && len(all)+len(parts) > 0 {
		if len(all) > 0 {
			st.Before = treeSize(w.File("log"))
		}
		_, failed = a.erase(ctx, w, all, parts, nil)
		if st.Done = len(all) + len(parts); len(all) > 0 {
			st.After = treeSize(w.File("log"))
		}
	}
	if failed != nil {
		st.Error = failed.Error()
	}
	st.TookMS = a.Now().Sub(start).Milliseconds()
	return append(stages, st), nil
}

func (a *App) runMaintenance(ctx context.Context, x Archive, how effort) []Stage {
	r := a.maintenanceRunner(x.Workspace)
	r.Embed = func(ctx context.Context) (int, error) { return how.embed(ctx, x) }
	r.Measure = func(ctx context.Context, c archive.Compaction) (compact.Outcome, error) {
		return measureCompaction(ctx, x, c)
	}
	r.Teach = func(ctx context.Context, c archive.Compaction) (map[string]archive.Tally, error) {
		return compact.Learn(ctx, x.Index, c, compact.Request{Log: x.Capture.Conversation, Redact: x.Redact})
	}
	r.Synthetic = func(ctx context.Context, session string) (archive.Compaction, bool, error) {
		return compact.SyntheticCompaction(ctx, x.Index, session)
	}
	r.Learned, r.LearnLimit = Learned{Path: x.Config.Paths.Learned()}, how.learn
	r.Retention = x.retention(how.compacting)
	r.Extra = []Step{{Name: "segments", Run: func(ctx context.Context, _ MaintainIndex, st *Stage) (err error) {
		st.Done, err = a.pruneSegments(ctx, x)
		return err
	}}}
	if x.Config.Postgres.Auto && a.Stores.LinksTeam() {
		r.Extra = append(r.Extra, Step{Name: "sync", Run: func(ctx context.Context, _ MaintainIndex, st *Stage) error {
			report, err := a.sync(ctx, x, Push{})
			if archive.ErrorCode(err) == archive.CodeBusy {
				return nil // another process syncs
			}
			st.Done = report.Sessions + len(report.Deleted)
			return err
		}})
	}
	r.Schedule.Begin(a.Now())
	return r.Run(ctx, MaintainIndex{Index: x.Index, Tiers: x.Index, Outcomes: x.Index})
}

// maintenanceRunner returns a runner without the stages that need an open index.
func (a *App) maintenanceRunner(w Workspace) Runner {
	return Runner{
		Capture: w.Capture, Journal: w.Journal, Pending: w.Pending(), Now: a.Now, IdleAfter: DefaultIdle,
		Schedule: w.Schedule(), Usage: usage.Store{Dir: w.Config.Paths.State()},
		SessionFolders: []string{w.Marks().Dir, w.Config.Paths.OwnCompactions(), w.Config.Paths.PendingCompactions(), w.Config.Paths.Blocked(), w.Config.Paths.Outcomes()},
		ClientFiles:    w.clientFiles,
	}
}

// retention returns the retention rules of the settings.
func (w Workspace) retention(compacting bool) Retention {
	return Retention{
		Rule: recall.ConfidenceWithDecay(w.Config.Lifecycle.Decay),
		Age:  time.Duration(w.Config.Retention.Days) * 24 * time.Hour, MaxBytes: w.Config.Retention.MaxBytes,
		Delete: w.Config.Retention.Delete, Compact: compacting,
		Sizes: func() (index, logs int64) {
			return w.indexBytes() + treeSize(w.Config.Paths.Vectors()), treeSize(w.File("log")) + treeSize(w.Config.Paths.Journal())
		},
	}
}

// StageErrors joins the errors of stages.
func StageErrors(stages []Stage) error {
	var errs []error
	for _, st := range stages {
		if st.Error != "" {
			errs = append(errs, fmt.Errorf("%s: %s", st.Name, st.Error))
		}
	}
	return errors.Join(errs...)
}

// ClientFiles lists the client's transcripts.
func (w Workspace) clientFiles(ctx context.Context) ([]capture.Job, error) {
	projects := filepath.Join(w.Config.ClientDir, "projects")
	if _, err := os.Stat(projects); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	jobs, _, err := capture.List(ctx, []string{projects})
	return jobs, err
}

// indexBytes is the size of the index on disk.
func (w Workspace) indexBytes() int64 {
	return treeSize(w.Config.Paths.Index()) + treeSize(w.Config.Paths.Index()+"-wal")
}

// treeSize sums up the sizes of the files at or below a path. It skips unreadable
// files.
func treeSize(root string) int64 {
	var n int64
	_ = filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // skips unreadable files
		}
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}
