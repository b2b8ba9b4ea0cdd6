package vector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"strandline/internal/embed"
)

// Upkeep embeds what has no vectors yet and brings the derived files up to them.
type Upkeep struct {
	Store interface {
		Filler
		Rows
	}
	Dir Dir
	// Embedders are those that every passage shall have vectors of.
	Embedders []embed.Embedder
	Now       func() time.Time
	// Within, if positive, is about how long each embedder may work; the rest is
	// left to the next pass.
	Within time.Duration
	// Progress, if set, is told of each batch.
	Progress func(embedder string, done int)
}

// Report is what a pass of upkeep did.
type Report struct {
	Embedded map[string]int // passages, by embedder
	Files    []Updated
}

// Run does one pass: at most limit passages for each embedder, all of them if
// limit is 0. An embedder that fails does not keep the others from their work.
func (u Upkeep) Run(ctx context.Context, limit int) (r Report, err error) {
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
