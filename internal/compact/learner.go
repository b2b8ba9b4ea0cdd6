package compact

import (
	"context"
	"time"

	"strandline/internal/archive"
	"strandline/internal/config"
	"strandline/internal/recall"
)

// Learner gives a selection what was learned. Its zero value gives nothing.
type Learner struct {
	How config.Learn
	// Taught returns what cuts through sessions taught of names, by shape.
	Taught func() map[string]archive.Tally
	Rule   recall.Rule
}

// Accesses is what a Learner that goes by places reads.
type Accesses interface {
	Accesses(ctx context.Context, session string) ([]archive.Access, error)
}

// Into puts what was learned by a time into a request.
func (l Learner) Into(ctx context.Context, req *Request, src Accesses, now time.Time) error {
	switch l.How {
	case config.LearnNames:
		req.Weights = Taught(l.Taught()).Weights()
	case config.LearnConfidence:
		all, err := src.Accesses(ctx, req.Session)
		if err != nil {
			return err
		}
		at := map[place][]archive.Access{}
		for _, a := range all {
			p := place{a.Turn, a.Step}
			at[p] = append(at[p], a)
		}
		req.Confidence = func(h archive.Handle, said time.Time) float64 {
			return l.Rule.At(said, at[place{h.Turn, h.Step}], now)
		}
	case config.LearnOff:
	}
	return nil
}
