package compact

import (
	"context"

	"strandline/internal/text"
)

// Lesson is what the replay of learning changes about a selection.
type Lesson struct {
	Specific map[string]float64 // worth of a specific, as a factor
	Weights  map[string]float64 // Request.Weights
}

// RestoreTaught is Restore with a lesson.
func RestoreTaught(ctx context.Context, src Source, req Request, l Lesson) (Block, error) {
	req.Weights = l.Weights
	if len(l.Specific) == 0 {
		return Restore(ctx, src, req)
	}
	p, err := load(ctx, src, req.Session, req.AtLine, req.Budget)
	if err != nil {
		return Block{}, err
	}
	if err := p.fill(ctx, req); err != nil {
		return Block{}, err
	}
	title := blockTitle(p)
	c := newCollector(p, req)
	for s, factor := range l.Specific {
		if id, ok := c.voc.ids[s]; ok {
			c.voc.worth[id] *= factor
		}
	}
	items := c.gather(nil)
	RoleNone.layout().apply(items)
	room := req.Budget - text.FenceOverhead - text.Units(title) - text.Units(footer(req.Session, 9999)) - 1
	body, handles, _ := newChooser(c.voc, sectionTitles(), room).pick(items)
	return Block{Text: text.Fence(title, body), Handles: handles}, nil
}
