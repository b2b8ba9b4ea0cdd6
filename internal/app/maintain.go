package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"strandline/internal/app/maintenance"
	"strandline/internal/capture"
	"strandline/internal/usage"
)

// MaintenanceRunner returns a maintenance run over an archive.
func (a *App) MaintenanceRunner(w Workspace) maintenance.Runner {
	paths := w.Config.Paths
	return maintenance.Runner{
		Capture: w.Capture, Journal: w.Journal, Pending: w.Pending(), Now: a.Now, IdleAfter: maintenance.DefaultIdle,
		Schedule: w.Schedule(), Usage: usage.Store{Dir: paths.State()},
		SessionFolders: []string{w.Marks().Dir, paths.Answered(), paths.Underway(), paths.Blocked(), paths.Outcomes()},
		ClientFiles:    w.ClientFiles,
	}
}

// ClientFiles lists the transcripts that the client has on disk.
func (w Workspace) ClientFiles(ctx context.Context) ([]capture.Job, error) {
	projects := filepath.Join(w.Config.ClientDir, "projects")
	if _, err := os.Stat(projects); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	jobs, _, err := capture.List(ctx, []string{projects})
	return jobs, err
}

// TreeSize returns the total size of the files at or below root in bytes. Unreadable
// files count 0.
func TreeSize(root string) int64 {
	var n int64
	_ = filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // see the function's comment
		}
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}
