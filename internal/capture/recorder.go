package capture

import (
	"context"

	"strandline/internal/archive"
)

// Recorder is an index that records the batches applied for one session, so that
// usage is updated without a query.
type Recorder struct {
	Index
	Session string
	Batches []archive.Batch // steps, compactions and the end of the bytes that were read
}

// Apply implements Index.
func (r *Recorder) Apply(ctx context.Context, b archive.Batch) error {
	err := r.Index.Apply(ctx, b)
	if err == nil && b.Session.ID == r.Session {
		r.Batches = append(r.Batches, archive.Batch{
			Session: archive.Session{ID: b.Session.ID}, Steps: b.Steps, Compactions: b.Compactions,
			Cursor: archive.Cursor{Generation: b.Cursor.Generation, Offset: b.Cursor.Offset},
		})
	}
	return err
}
