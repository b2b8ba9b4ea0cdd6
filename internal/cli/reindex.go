package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/state"
)

func (a *commands) reindexCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reindex",
		Short: "Rebuild the index from the logs and the journal",
		Long: `Rebuild the index from the logs and the journal alone. The old one stays in place until
the new one is whole; nothing is lost if it is interrupted.`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.reindex(cmd.Context()) },
	}
}

func (a *commands) reindex(ctx context.Context) error {
	r, err := a.app.Workspace()
	if err != nil {
		return err
	}
	report, later, err := a.rebuildIndex(ctx, r)
	if report.Done > 0 || err == nil {
		fmt.Fprintf(a.out, "%s indexed from %s of logs\n", runs(report.Sessions, report.Agents), size(report.Bytes))
	}
	if later.Sessions+later.Agents > 0 {
		fmt.Fprintf(a.out, "%s changed meanwhile, now indexed as well\n", runs(later.Sessions, later.Agents))
	}
	report.Failed = joinFailed(report.Failed, later.Failed)
	for _, f := range report.Failed {
		fmt.Fprintf(a.errOut, "not indexed: %s: %s\n", f.Path, app.ErrorText(f.Err))
	}
	if err == nil && len(report.Failed) > 0 {
		return silentError{ExitCorrupt}
	}
	return err
}

// rebuildIndex puts an index that is read from the logs and the journal alone in
// the place of the old one. later is what changed meanwhile.
func (a *commands) rebuildIndex(ctx context.Context, r app.Workspace) (report, later capture.Report, err error) {
	lock, err := r.Lock("reindex", "reindex")
	if err != nil {
		return report, later, err
	}
	defer lock.Release() // it ends with the process in any case
	jobs, err := r.Capture.LoggedJobs(ctx)
	if err != nil {
		return report, later, err
	}
	final := r.Config.Paths.Index()
	fresh := final + ".new"
	if err := removeIndex(fresh); err != nil {
		return report, later, err
	}
	built, err := a.buildIndex(ctx, r, fresh, jobs)
	if err == nil {
		err = swapIndex(ctx, fresh, final)
	}
	if err != nil {
		return report, later, errors.Join(err, removeIndex(fresh))
	}
	later, err = a.indexMeanwhile(ctx, r)
	return built, later, err
}

// indexMeanwhile brings the new index up to the logs once more. What hooks logged
// while it was built went into the index that is gone; from the swap on they
// write to the new one themselves.
func (a *commands) indexMeanwhile(ctx context.Context, r app.Workspace) (report capture.Report, err error) {
	err = a.app.WithIndex(ctx, r, app.ReadWrite, func(x app.Archive) error {
		var err error
		report, err = a.app.MaintenanceRunner(r).Index(ctx, x.Index)
		return err
	})
	return report, err
}

// joinFailed adds the files that failed later; those that failed before fail
// again and are told once.
func joinFailed(failed, later []capture.FileError) []capture.FileError {
	for _, f := range later {
		if !slices.ContainsFunc(failed, func(known capture.FileError) bool { return known.Path == f.Path }) {
			failed = append(failed, f)
		}
	}
	return failed
}

// swapWait is how long a new index waits for the old one to be left alone. Hooks
// hold it for milliseconds; only a program that stays, such as an import, is in
// the way for longer.
const swapWait = 30 * time.Second

// swapIndex puts a new index in the place of the old one while nobody has it
// open: the write-ahead log of the old one must not be taken for the new one's.
func swapIndex(ctx context.Context, fresh, final string) error {
	wait, cancel := context.WithTimeout(ctx, swapWait)
	defer cancel()
	lock, err := state.WaitLock(wait, final+".lock", false)
	if err != nil {
		return &archive.Error{Code: archive.CodeBusy, Msg: "the index stays in use by another process", Hint: "end the commands that use it and reindex again"}
	}
	err = errors.Join(removeIfThere(final+"-wal"), removeIfThere(final+"-shm"), os.Rename(fresh, final), removeIndex(fresh))
	if err = errors.Join(err, lock.Release()); err != nil {
		return fmt.Errorf("put the new index in place: %w", err)
	}
	return nil
}

func (a *commands) buildIndex(ctx context.Context, r app.Workspace, path string, jobs []capture.Job) (report capture.Report, err error) {
	bar := a.newProgress("indexing", false)
	err = a.bulk(ctx, path, func(idx, known *app.Index) error {
		var err error
		report, err = r.Capture.Bulk(ctx, idx, known, jobs, bar.capture)
		bar.end()
		if err != nil {
			return err
		}
		return r.Journal.Sync(ctx, idx)
	})
	return report, err
}

// bulk opens an index twice: one connection writes while the other is asked.
func (a *commands) bulk(ctx context.Context, path string, run func(idx, known *app.Index) error) error {
	idx, err := a.app.Stores.OpenIndex(ctx, path, app.BulkWrite)
	if err != nil {
		return err
	}
	known, err := a.app.Stores.OpenIndex(ctx, path, app.ReadOnly)
	if err != nil {
		return errors.Join(err, idx.Close())
	}
	return errors.Join(run(idx, known), known.Close(), idx.Close())
}

// removeIndex removes an index file with what the database keeps beside it.
func removeIndex(path string) error {
	return errors.Join(removeIfThere(path), removeIfThere(path+"-wal"), removeIfThere(path+"-shm"), removeIfThere(path+".lock"))
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove old index: %w", err)
	}
	return nil
}
