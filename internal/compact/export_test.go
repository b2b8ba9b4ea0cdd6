package compact

import (
	"context"

	"strandline/internal/text"
)

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
	body, handles, _ := newSelector(v.terms, RoleNone.layout(), "## ", budget).pick(v.collect(nil))
	return Output{Text: text.Fence(title, body), Handles: handles}, nil
}
