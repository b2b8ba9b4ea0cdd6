package compact

import (
	"context"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Add adds the tallies of another compaction.
func (t Tallies) Add(other Tallies) {
	for s, x := range other {
		t[s] = archive.Tally{Expected: t[s].Expected + x.Expected, Needed: t[s].Needed + x.Needed}
	}
}

// newVocabulary returns an empty vocabulary with capacity for size terms.
func newVocabulary(now, size int) *vocabulary {
	return &vocabulary{ids: make(map[string]int32, size), terms: make([]term, 0, size), now: int32(now)}
}

// Lesson is what a learning rule changes about a selection.
type Lesson struct {
	Terms   map[string]float64 // value multiplier of single terms
	Weights map[string]float64 // Request.Weights
}

// RestoreWith is Restore with a lesson.
func RestoreWith(ctx context.Context, src Source, req Request, l Lesson) (Output, error) {
	req.Weights = l.Weights
	if len(l.Terms) == 0 {
		return Restore(ctx, src, req)
	}
	p, err := load(ctx, src, req.Session, req.AtLine, req.Budget)
	if err != nil {
		return Output{}, err
	}
	if err := p.complete(ctx, req); err != nil {
		return Output{}, err
	}
	title := fenceTitle(p)
	v := newScoredView(p, req)
	for s, factor := range l.Terms {
		if id, ok := v.terms.ids[s]; ok {
			v.terms.value[id] *= factor
		}
	}
	budget := req.Budget - text.FenceOverhead - text.Units(title) - text.Units(footer(req.Session, 9999)) - 1
	body, handles, _ := newSelector(v, RoleNone.layout(), budget).pick(v.collect(nil))
	return Output{Text: text.Fence(title, body), Handles: handles}, nil
}
