package embed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"strandline/internal/archive"
)

// VectorWriter is the part of a store that new vectors are written to.
type VectorWriter interface {
	Unembedded(ctx context.Context, embedder string, dim, limit int) (archive.Unembedded, error)
	PutVectors(ctx context.Context, embedder string, dim int, work archive.Unembedded, rows []archive.VectorRow) error
}

// Maintenance embeds passages without vectors, newest sessions first, and updates
// the flat files. It can be interrupted at any time: each batch is stored at once.
type Maintenance struct {
	Store interface {
		VectorWriter
		VectorReader
	}
	Dir       VectorDir
	Embedders []Embedder // every passage gets vectors of each
	Now       func() time.Time
	// Within, if positive, limits the time of each embedder. It is checked after each
	// batch.
	Within time.Duration
}

// MaintenanceReport is the result of a maintenance run.
type MaintenanceReport struct {
	Embedded map[string]int // passages, by embedder
	Files    []FileUpdate
}

// Run embeds at most limit passages with each embedder (0: all) and updates the
// files. If an embedder fails, the others still run.
func (m Maintenance) Run(ctx context.Context, limit int) (r MaintenanceReport, err error) {
	r.Embedded = map[string]int{}
	var failed error
	for _, e := range m.Embedders {
		n, err := m.Backfill(ctx, e, limit)
		r.Embedded[e.Name()] = n
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", e.Name(), err))
		}
	}
	r.Files, err = m.Dir.Update(ctx, m.Store)
	return r, errors.Join(failed, err)
}

// batchSize is the number of passages in one transaction.
const batchSize = 128

// Backfill embeds at most limit passages with e (0: all) and returns how many it
// processed, including those that e has no vector for. It does not update the files.
func (m Maintenance) Backfill(ctx context.Context, e Embedder, limit int) (done int, err error) {
	start := m.Now()
	if e.Dim() == 0 { // known after the first answer
		if _, err := e.Embed(ctx, []string{"dimension"}); err != nil {
			return 0, fmt.Errorf("get the number of components: %w", err)
		}
	}
	for limit == 0 || done < limit {
		n := batchSize
		if limit > 0 {
			n = min(n, limit-done)
		}
		work, err := m.Store.Unembedded(ctx, e.Name(), e.Dim(), n)
		if err != nil || len(work.Marks) == 0 {
			return done, err
		}
		rows, err := embedPassages(ctx, e, work.Passages)
		if err != nil {
			return done, err
		}
		if err := m.Store.PutVectors(ctx, e.Name(), e.Dim(), work, rows); err != nil {
			return done, err
		}
		done += len(work.Passages)
		if m.Within > 0 && m.Now().Sub(start) >= m.Within {
			break
		}
	}
	return done, nil
}

// embedPassages returns the packed vectors of passages.
func embedPassages(ctx context.Context, e Embedder, passages []archive.PassageText) (rows []archive.VectorRow, err error) {
	texts := archive.Convert(passages, func(p archive.PassageText) string { return p.Text })
	data := make([][]byte, len(passages))
	err = EmbedChunks(ctx, e, texts, 0, func(i int, v []float32) error {
		if dim := e.Dim(); len(v) != dim {
			return fmt.Errorf("a vector has %d components, want %d", len(v), dim)
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
