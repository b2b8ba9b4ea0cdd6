package compact

import (
	"context"

	"strandline/internal/archive"
	"strandline/internal/brief"
)

// Lesson is what the replay of learning changes about a selection.
type Lesson struct {
	Specific map[string]float64           // worth of a specific, as a factor
	Place    func(archive.Handle) float64 // worth of what stands at a place, as a factor; nil: 1
}

// RestoreTaught is Restore with a lesson.
func RestoreTaught(ctx context.Context, src Source, req Request, l Lesson) (Block, error) {
	p, err := load(ctx, src, req.Session, req.AtLine, req.Budget)
	if err != nil {
		return Block{}, err
	}
	title := blockTitle(p)
	c := newCollector(p, req)
	for s, factor := range l.Specific {
		if id, ok := c.voc.ids[s]; ok {
			c.voc.worth[id] *= factor
		}
	}
	items := c.gather()
	if l.Place != nil {
		for _, it := range items {
			it.teach(l.Place)
		}
	}
	room := req.Budget - brief.Overhead - brief.Units(title) - brief.Units(footer(req.Session, 9999)) - 1
	body, handles, _ := newChooser(c.voc, sectionTitles(), room).pick(items)
	return Block{Text: brief.Fence(title, body), Handles: handles}, nil
}

func (it *item) teach(place func(archive.Handle) float64) {
	factor := func(handle string) float64 {
		h, err := archive.ParseHandle(handle)
		if err != nil {
			return 1
		}
		return place(h)
	}
	own := factor(it.handle)
	it.prior *= own
	for _, l := range it.lines {
		f := own
		if l.handle != "" {
			f = factor(l.handle)
		}
		l.prior *= f
		l.share *= f
	}
}
