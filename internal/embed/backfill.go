package embed

import (
	"context"
	"fmt"
	"time"

	"strandline/internal/archive"
)

// VectorWriter is what a back-fill needs of a store.
type VectorWriter interface {
	Unembedded(ctx context.Context, embedder string, dim, limit int) (archive.Unembedded, error)
	PutVectors(ctx context.Context, embedder string, dim int, work archive.Unembedded, rows []archive.VectorRow) error
}

// Backfill embeds passages that have no vectors yet, the newest sessions' first.
// It may be ended at any time: what is embedded is stored batch by batch.
type Backfill struct {
	Store    VectorWriter
	Embedder Embedder
	Now      func() time.Time
	// Within, if positive, ends the work after about so long.
	Within time.Duration
	// Progress, if set, is told how many passages are done after each batch.
	Progress func(done int)
}

// batch is how many passages go into one transaction.
const batch = 128

// Run embeds at most limit passages, all if limit is 0, and returns how many it
// looked at. Those of which the embedder knows nothing count as done.
func (b Backfill) Run(ctx context.Context, limit int) (done int, err error) {
	start := b.Now()
	if b.Embedder.Dim() == 0 { // a service tells it with its first answer
		if _, err := b.Embedder.Embed(ctx, []string{"dimension"}); err != nil {
			return 0, fmt.Errorf("ask for the length of vectors: %w", err)
		}
	}
	for limit == 0 || done < limit {
		n := batch
		if limit > 0 {
			n = min(n, limit-done)
		}
		work, err := b.Store.Unembedded(ctx, b.Embedder.Name(), b.Embedder.Dim(), n)
		if err != nil {
			return done, err
		}
		if len(work.Marks) == 0 {
			return done, nil
		}
		rows, err := b.rows(ctx, work.Passages)
		if err != nil {
			return done, err
		}
		if err := b.Store.PutVectors(ctx, b.Embedder.Name(), b.Embedder.Dim(), work, rows); err != nil {
			return done, err
		}
		done += len(work.Passages)
		if b.Progress != nil {
			b.Progress(done)
		}
		if b.Within > 0 && b.Now().Sub(start) >= b.Within {
			return done, nil
		}
	}
	return done, nil
}

// rows embeds passages, piece by piece.
func (b Backfill) rows(ctx context.Context, passages []archive.PassageText) (rows []archive.VectorRow, err error) {
	texts := make([]string, len(passages))
	for i, p := range passages {
		texts[i] = p.Text
	}
	data := make([][]byte, len(passages))
	err = Pieces(ctx, b.Embedder, texts, 0, func(i int, v []float32) error {
		if dim := b.Embedder.Dim(); len(v) != dim {
			return fmt.Errorf("a vector of %d components, %d are expected", len(v), dim)
		}
		data[i] = Pack(data[i], v)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("embed %d passages: %w", len(passages), err)
	}
	for i, d := range data {
		if d != nil {
			rows = append(rows, archive.VectorRow{Passage: passages[i].ID, Data: d})
		}
	}
	return rows, nil
}
