package cli

import (
	"context"
	"time"

	"strandline/internal/embed"
	"strandline/internal/embed/static"
	"strandline/internal/vector"
)

// vectorDir is the folder of the files that are derived from vectors.
func (r rooms) vectorDir() vector.Dir { return vector.Dir(r.file("vectors")) }

// embedAll makes vectors of every passage that has none.
func (a *app) embedAll(ctx context.Context, x indexed) (int, error) {
	return run(ctx, vector.Upkeep{
		Store: x.store, Dir: x.vectorDir(), Now: a.env.Now,
		Embedders: []embed.Embedder{static.New()},
	})
}

// embedWithin is how long a pass that a hook started may embed. The built-in
// table makes vectors of some thousand passages in it.
const embedWithin = 200 * time.Millisecond

// embedSome makes vectors of the newest passages, with the built-in table only:
// it runs while the user works.
func (a *app) embedSome(ctx context.Context, x indexed) (int, error) {
	return run(ctx, vector.Upkeep{
		Store: x.store, Dir: x.vectorDir(), Now: a.env.Now, Within: embedWithin,
		Embedders: []embed.Embedder{static.New()},
	})
}

// run does a pass and counts the passages.
func run(ctx context.Context, u vector.Upkeep) (done int, err error) {
	report, err := u.Run(ctx, 0)
	for _, n := range report.Embedded {
		done += n
	}
	return done, err
}
