package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
	"strandline/internal/state"
	"strandline/internal/transcript"
)

// ImportReport is the outcome of an import.
type ImportReport struct {
	Files    int      `json:"files"` // read completely; with DryRun those with new bytes
	Found    int      `json:"found_files"`
	Sessions int      `json:"sessions"`
	Agents   int      `json:"agents"`
	Bytes    int64    `json:"bytes"`
	Added    int64    `json:"added_bytes"`
	TookMS   int64    `json:"took_ms"`
	Failed   []string `json:"failed,omitempty"`
	Paths    []string `json:"-"` // where it looked
}

// ImportOptions select what Import does.
type ImportOptions struct {
	Paths   []string // transcripts or folders; none: the folders of the clients
	Clients []string // names of the clients; none: all
	DryRun  bool     // only count
	// Progress, unless nil, is called while files are read.
	Progress func(capture.Progress)
}

// Import captures and indexes transcripts. After an error the report says how far it came.
func (a *App) Import(ctx context.Context, o ImportOptions) (out ImportReport, err error) {
	w, err := a.Workspace()
	if err != nil {
		return out, err
	}
	jobs, failed, paths, err := a.importJobs(ctx, w, o)
	if err != nil {
		return out, err
	}
	if o.DryRun {
		m, err := w.Capture.Uncaptured(jobs)
		if err != nil {
			return out, err
		}
		out = ImportReport{Files: m.Files, Sessions: m.Sessions, Agents: m.Agents, Bytes: m.Bytes}
	} else {
		start := a.Now()
		var r capture.Report
		err = a.repaired(ctx, w, func() error {
			return a.withBulkIndex(ctx, w.Config.Paths.Index(), func(write, read *Index) (err error) {
				r, err = w.Capture.Bulk(ctx, write, read, jobs, o.Progress)
				return err
			})
		})
		failed = append(failed, r.Failed...)
		out = ImportReport{
			Files: r.Done, Sessions: r.Sessions, Agents: r.Agents, Bytes: r.Bytes, Added: r.Added, TookMS: a.Now().Sub(start).Milliseconds(),
		}
	}
	out.Found, out.Failed, out.Paths = len(jobs), fileErrors(failed), paths
	return out, err
}

// importJobs lists the files to import, and where it looked for them.
func (a *App) importJobs(ctx context.Context, w Workspace, o ImportOptions) (jobs []capture.Job, failed []capture.FileError, paths []string, err error) {
	c := w.Capture
	if len(o.Clients) > 0 {
		names := archive.Convert(c.Known(), func(x transcript.Client) string { return x.Name })
		for _, name := range o.Clients {
			if !slices.Contains(names, name) {
				return nil, nil, nil, archive.Invalid(fmt.Sprintf("the client %q is not known", name), "--client takes "+strings.Join(names, ", "))
			}
		}
		c = c.Only(o.Clients...)
	}
	if len(o.Paths) > 0 {
		jobs, failed, err = c.Discover(ctx, o.Paths)
		return jobs, failed, o.Paths, err
	}
	var looked []string
	for _, client := range c.Known() {
		roots := a.roots(client)
		looked = append(looked, roots...)
		roots = archive.Select(roots, exists)
		found, bad, err := c.Only(client.Name).Discover(ctx, roots)
		if err != nil {
			return nil, nil, nil, err
		}
		jobs, failed, paths = append(jobs, found...), append(failed, bad...), append(paths, roots...)
	}
	if len(paths) == 0 {
		err = archive.NotFound("there are no sessions yet in "+strings.Join(looked, ", "), "name a transcript or a folder that holds transcripts to import those")
	}
	return jobs, failed, paths, err
}

// roots lists the folders that hold a client's transcripts.
func (a *App) roots(client transcript.Client) []string {
	if client.Roots == nil {
		return nil
	}
	return client.Roots(a.Getenv, a.Home)
}

// fileErrors returns a message per file.
func fileErrors(failed []capture.FileError) []string {
	return archive.Convert(failed, func(f capture.FileError) string { return f.Path + ": " + ErrorText(f.Err) })
}

// ReindexReport is the outcome of a reindex.
type ReindexReport struct {
	Built capture.Report // of the new index
	Later capture.Report // of logs that changed meanwhile
	// Failed lists the logs that could not be read.
	Failed []string
}

// Reindex rebuilds the index from the logs and the journal. The old index stays in
// place until the new one is complete. After an error, the report says how far it
// came.
func (a *App) Reindex(ctx context.Context, progress func(capture.Progress)) (out ReindexReport, err error) {
	w, err := a.Workspace()
	if err != nil {
		return out, err
	}
	return a.rebuildIndex(ctx, w, progress)
}

func (a *App) rebuildIndex(ctx context.Context, w Workspace, progress func(capture.Progress)) (out ReindexReport, err error) {
	lock, err := w.Lock("reindex", "reindex")
	if err != nil {
		return out, err
	}
	defer lock.Release() // also released when the process ends
	jobs, err := w.Capture.LoggedJobs(ctx)
	if err != nil {
		return out, err
	}
	lost, err := a.lostLogs(ctx, w, "")
	if err != nil {
		return out, err
	}
	known := map[string]int64{} // the new index does not know them
	for _, l := range lost {
		known[l.Path] = l.Had
	}
	if err := w.Capture.Manifest().Update(ctx, known, nil); err != nil {
		return out, err
	}
	current := w.Config.Paths.Index()
	if info, err := os.Stat(current); err == nil && !info.Mode().IsRegular() {
		if err := os.Rename(current, current+".aside"); err != nil {
			return out, archive.Invalid("the index "+current+" is not a regular file", "move it away and run: strandline reindex")
		}
	}
	fresh := current + ".new"
	built, err := a.buildIndex(ctx, w, fresh, jobs, progress)
	if err == nil {
		err = replaceIndex(ctx, fresh, current)
	}
	if err != nil {
		return out, errors.Join(err, removeIndex(fresh))
	}
	out.Built = built
	// Meanwhile hooks wrote to the old index. From now on they write to the new one.
	err = a.useIndex(ctx, w, ReadWrite, func(x Archive) (err error) {
		out.Later, err = a.runner(w).Index(ctx, x.Index)
		return err
	})
	later := archive.Select(out.Later.Failed, func(f capture.FileError) bool { // a log that failed before fails again
		return !slices.ContainsFunc(built.Failed, func(known capture.FileError) bool { return known.Path == f.Path })
	})
	failed := append(built.Failed, later...)
	err = errors.Join(err, w.Journal.Log.Verify(ctx, func(path string, _ sessionlog.VerifyReport, err error) {
		if err != nil {
			failed = append(failed, capture.FileError{Path: path, Err: err})
		}
	}))
	for _, l := range lost {
		failed = append(failed, capture.FileError{Path: l.Path, Err: archive.NotFound(l.String(), "")})
	}
	out.Failed = fileErrors(failed)
	return out, err
}

// buildIndex writes a new index from the logs and the journal and checks it: on a full
// disk the rows of the last transactions can be left outside the file, and the file
// cannot be used without them. The caller removes the index after an error.
func (a *App) buildIndex(ctx context.Context, w Workspace, path string, jobs []capture.Job, progress func(capture.Progress)) (built capture.Report, err error) {
	if err := removeIndex(path); err != nil {
		return built, err
	}
	var written, found archive.Totals
	err = a.withBulkIndex(ctx, path, func(write, read *Index) (err error) {
		if built, err = w.Capture.Bulk(ctx, write, read, jobs, progress); err == nil {
			err = w.Journal.Sync(ctx, write)
		}
		if err == nil {
			written, err = write.Totals(ctx)
		}
		if err == nil {
			err = write.Settle(ctx)
		}
		return err
	})
	if err != nil {
		return built, err
	}
	index, err := a.Stores.OpenIndex(ctx, path, ReadOnly)
	if err != nil {
		return built, fmt.Errorf("check the new index: %w", err)
	}
	if err = index.Integrity(ctx); err == nil {
		found, err = index.Totals(ctx)
	}
	if err == nil && found != written {
		err = &archive.Error{Code: archive.CodeCorrupt, Msg: "the new index lacks rows that were written to it", Hint: "check the free space and reindex again"}
	}
	if err = errors.Join(err, index.Close()); err != nil {
		return built, fmt.Errorf("check the new index: %w", err)
	}
	return built, nil
}

// withBulkIndex opens an index twice: one connection writes while the other reads.
func (a *App) withBulkIndex(ctx context.Context, path string, run func(write, read *Index) error) error {
	write, err := a.Stores.OpenIndex(ctx, path, BulkWrite)
	if err != nil {
		return err
	}
	read, err := a.Stores.OpenIndex(ctx, path, ReadOnly)
	if err != nil {
		return errors.Join(err, write.Close())
	}
	return errors.Join(run(write, read), read.Close(), write.Close())
}

// replaceWait is how long a new index waits until no process has the old one open.
// Hooks have it open for milliseconds, an import for longer.
const replaceWait = 30 * time.Second

// replaceIndex replaces an index while no process has it open: otherwise its
// write-ahead log would be applied to the new file.
func replaceIndex(ctx context.Context, fresh, current string) error {
	wait, cancel := context.WithTimeout(ctx, replaceWait)
	defer cancel()
	lock, err := state.WaitLock(wait, current+".lock", false)
	if err != nil {
		return &archive.Error{Code: archive.CodeBusy, Msg: "the index stays in use by another process", Hint: "end the commands that use it and reindex again"}
	}
	err = errors.Join(state.Remove(current+"-wal"), state.Remove(current+"-shm"), os.Rename(fresh, current), removeIndex(fresh))
	if err = errors.Join(err, lock.Release()); err != nil {
		return fmt.Errorf("replace the index: %w", err)
	}
	return nil
}

// removeIndex removes an index with the database's other files.
func removeIndex(path string) (err error) {
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		err = errors.Join(err, state.Remove(path+suffix))
	}
	if err != nil {
		return fmt.Errorf("remove old index: %w", err)
	}
	return nil
}

// ifIndexed is withIndex, read-only. It does nothing if the index is missing.
func (a *App) ifIndexed(ctx context.Context, w Workspace, run func(Archive) error) error {
	if !exists(w.Config.Paths.Index()) {
		return nil
	}
	return a.withIndex(ctx, w, ReadOnly, run)
}
