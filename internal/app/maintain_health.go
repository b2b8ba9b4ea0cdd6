package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/state"
	"strandline/internal/usage"
)

// HealthIndex is the part of a store that health is computed from.
type HealthIndex interface {
	Cursor(ctx context.Context, session string) (archive.Cursor, error)
	Feedback(ctx context.Context) (archive.Feedback, error)
	Embedded(ctx context.Context) (part, of int64, err error)
}

// HealthReport is the archive's health with its counts.
type HealthReport struct {
	usage.Health
	Uncaptured int // client files that hold more than their logs
	Unindexed  int // logged sessions that are missing from the index
	Measured   int // compactions that Used covers
}

// Health computes four shares: of the client's bytes that are logged, of the
// logged bytes that are indexed, of the passages that an embedder has processed,
// and of the restored places that were used. A share of nothing is nil, so is
// that of passages before the first embedding. files are the client's.
func (r Runner) Health(ctx context.Context, idx HealthIndex, files []capture.Job) (HealthReport, error) {
	h, err := r.computeHealth(ctx, idx, files)
	if err != nil {
		err = fmt.Errorf("compute the archive's health: %w", err)
	}
	return h, err
}

func (r Runner) computeHealth(ctx context.Context, idx HealthIndex, files []capture.Job) (HealthReport, error) {
	h := HealthReport{Health: usage.Health{Time: r.Now().UnixMilli()}}
	uncaptured, err := r.Capture.Uncaptured(files)
	if err != nil {
		return h, err
	}
	h.Uncaptured, h.Captured = uncaptured.Files, share(uncaptured.Total-uncaptured.Bytes, uncaptured.Total)
	var part, of int64
	err = r.eachLog(ctx, idx, func(j capture.Job, cur archive.Cursor) {
		if missing(cur, j) {
			h.Unindexed++
		}
		part += min(cur.Offset, j.Size)
		of += j.Size
	})
	if err != nil {
		return h, err
	}
	h.Indexed = share(part, of)
	if part, of, err = idx.Embedded(ctx); err != nil {
		return h, err
	}
	h.Embedded = share(part, of)
	sum, err := idx.Feedback(ctx)
	h.Measured, h.Used = sum.Compactions, share(int64(sum.Used), int64(sum.Given))
	return h, err
}

func share(part, of int64) *usage.Share {
	if of <= 0 {
		return nil
	}
	return &usage.Share{Part: part, Of: of}
}

// health writes the archive's health to the statusline's file.
func (r Runner) health(ctx context.Context, idx MaintainIndex, _ *Stage) error {
	if r.Usage.Dir == "" {
		return nil
	}
	files, err := r.ClientFiles(ctx)
	if err != nil {
		return fmt.Errorf("list the client's files: %w", err)
	}
	h, err := r.Health(ctx, idx, files)
	if err != nil {
		return err
	}
	return r.Usage.WriteHealth(h.Health)
}

// stateLifetime is how long the state of an idle session is kept: as long as the
// client keeps the transcript, so that a resumed session finds its history.
const stateLifetime = 30 * 24 * time.Hour

// state removes the statusline's files and the hooks' files of sessions that
// ended long ago.
func (r Runner) state(_ context.Context, _ MaintainIndex, st *Stage) (err error) {
	if r.Usage.Dir == "" && len(r.SessionFolders) == 0 {
		return nil
	}
	before := r.Now().Add(-stateLifetime)
	st.Done, err = r.Usage.Sweep(before)
	for _, dir := range r.SessionFolders {
		n, serr := state.Store{Dir: dir}.Sweep(before)
		st.Done += n
		err = errors.Join(err, serr)
	}
	return err
}
