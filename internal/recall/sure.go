package recall

import (
	"context"
	"fmt"
	"slices"

	"strandline/internal/archive"
)

// What was said lately, and what was given to the model again and used, is wanted
// again sooner than the rest. The confidence of a hit's place says so; between what
// the words find equally good it decides.

// weighSure is what full confidence counts beside the lowest, in units of the best
// passage's words.
const weighSure = 0.2

// WithDecay returns a Recall for which a place loses so much confidence in an hour.
func (r *Recall) WithDecay(perHour float64) *Recall {
	with := *r
	with.rule = ConfidenceWithDecay(perHour)
	return &with
}

// addConfidence notes in each hit how sure its place is, and counts it. What was
// given to the model is looked up of the sessions of those hits that might get
// into an answer of so many by it.
func (s *search) addConfidence(ctx context.Context, hits []Hit, limit int) error {
	if len(hits) == 0 {
		return nil
	}
	scores := make([]float64, len(hits))
	for i := range hits {
		scores[i] = hits[i].Score
	}
	slices.Sort(scores)
	least := scores[max(len(scores)-limit, 0)] - weighSure
	given := map[string][]archive.Access{}
	now := s.now()
	for i := range hits {
		h := &hits[i]
		var own []archive.Access
		if h.Score >= least {
			all, known := given[h.Session]
			if !known {
				var err error
				if all, err = s.store.Accesses(ctx, h.Session); err != nil {
					return fmt.Errorf("search: %w", err)
				}
				given[h.Session] = all
			}
			for _, a := range all {
				if a.Turn == h.Ref.Turn && (a.Step < 0 || a.Step == h.Ref.Step) {
					own = append(own, a)
				}
			}
		}
		h.Why.Sure = s.rule.At(h.Time, own, now)
		h.Score += weighSure * (h.Why.Sure - s.rule.Floor)
	}
	return nil
}
