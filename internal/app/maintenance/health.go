package maintenance

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

// Memory is what the memory's health is measured by.
type Memory interface {
	capture.Known
	Feedback(ctx context.Context) (archive.Feedback, error)
	Embedded(ctx context.Context) (part, of int64, err error)
}

// Found is the memory's health with what was counted for it.
type Found struct {
	usage.Health
	Uncaptured int // files of the client that hold more than their logs
	Unindexed  int // sessions that are logged and that the index knows nothing of
	Measured   int // compactions that Used is of
}

// Health measures how well the archive remembers: the share of the client's bytes
// that is in the logs, the share of the logs' bytes that is in the index, the share
// of the passages that an embedder has looked at, once one has begun, and the share
// of the places that compactions gave back that was used. files are the
// client's. A share that nothing can be said of is nil.
func (p Pass) Health(ctx context.Context, idx Memory, files []capture.Job) (Found, error) {
	h := Found{Health: usage.Health{Time: p.Now().UnixMilli()}}
	missing, err := p.Capture.Uncaptured(files)
	if err != nil {
		return h, fmt.Errorf("measure the memory: %w", err)
	}
	h.Uncaptured, h.Captured = missing.Files, share(missing.Of-missing.Bytes, missing.Of)
	logged, err := p.Capture.Logged(ctx)
	if err != nil {
		return h, fmt.Errorf("measure the memory: %w", err)
	}
	var part, of int64
	for _, j := range logged {
		cur, err := idx.Cursor(ctx, j.Session)
		if err != nil {
			return h, fmt.Errorf("measure the memory: %w", err)
		}
		if lost(cur, j) {
			h.Unindexed++
		}
		part += min(cur.Offset, j.Size)
		of += j.Size
	}
	h.Indexed = share(part, of)
	if part, of, err = idx.Embedded(ctx); err != nil {
		return h, fmt.Errorf("measure the memory: %w", err)
	}
	h.Embedded = share(part, of)
	sum, err := idx.Feedback(ctx)
	if err != nil {
		return h, fmt.Errorf("measure the memory: %w", err)
	}
	h.Measured, h.Used = sum.Compactions, share(int64(sum.Used), int64(sum.Given))
	return h, nil
}

// share returns a part of a whole, nil of nothing.
func share(part, of int64) *usage.Share {
	if of <= 0 {
		return nil
	}
	return &usage.Share{Part: part, Of: of}
}

// health measures the memory's health and leaves it where the statusline reads it.
func (p Pass) health(ctx context.Context, idx Index, _ *Stage) error {
	if p.Gauge.Dir == "" {
		return nil
	}
	files, err := p.ClientFiles(ctx)
	if err != nil {
		return fmt.Errorf("list the client's files: %w", err)
	}
	h, err := p.Health(ctx, idx, files)
	if err != nil {
		return err
	}
	return p.Gauge.WriteHealth(h.Health)
}

// stateKept is how long the statusline's file of a session is kept that nobody
// goes on with: as long as the client keeps the transcript, so that a resumed
// session finds its history.
const stateKept = 30 * 24 * time.Hour

// state removes what the statusline reads, and what hooks noted, of sessions that
// ended long ago.
func (p Pass) state(_ context.Context, _ Index, st *Stage) (err error) {
	if p.Gauge.Dir == "" && len(p.Notes) == 0 {
		return nil
	}
	before := p.Now().Add(-stateKept)
	st.Done, err = p.Gauge.Sweep(before)
	for _, dir := range p.Notes {
		n, serr := state.Store{Dir: dir}.Sweep(before)
		st.Done += n
		err = errors.Join(err, serr)
	}
	return err
}
