package embed

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Maintenance embeds what has no vectors yet and brings the derived files up to them.
type Maintenance struct {
	Store interface {
		VectorWriter
		VectorReader
	}
	Dir VectorDir
	// Embedders are those that every passage shall have vectors of.
	Embedders []Embedder
	Now       func() time.Time
	// Within, if positive, is about how long each embedder may work; the rest is
	// left to the next pass.
	Within time.Duration
	// Progress, if set, is told of each batch.
	Progress func(embedder string, done int)
}

// MaintenanceReport is what a pass of upkeep did.
type MaintenanceReport struct {
	Embedded map[string]int // passages, by embedder
	Files    []FileUpdate
}

// Run does one pass: at most limit passages for each embedder, all of them if
// limit is 0. An embedder that fails does not keep the others from their work.
func (u Maintenance) Run(ctx context.Context, limit int) (r MaintenanceReport, err error) {
	r.Embedded = map[string]int{}
	var errs []error
	for _, e := range u.Embedders {
		fill := Backfill{Store: u.Store, Embedder: e, Now: u.Now, Within: u.Within}
		if u.Progress != nil {
			fill.Progress = func(done int) { u.Progress(e.Name(), done) }
		}
		n, err := fill.Run(ctx, limit)
		r.Embedded[e.Name()] = n
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", e.Name(), err))
		}
	}
	r.Files, err = u.Dir.Update(ctx, u.Store)
	return r, errors.Join(append(errs, err)...)
}
