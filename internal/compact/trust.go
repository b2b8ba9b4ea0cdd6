package compact

import (
	"time"

	"strandline/internal/archive"
)

// trust weighs what stands at a place with the confidence in it, where that was
// asked for.
func (c *collector) trust(items []*item) {
	if c.req.Confidence == nil {
		return
	}
	said := map[place]time.Time{}
	for _, ps := range [][]archive.Passage{c.past.prompts, c.past.passages} {
		for _, x := range ps {
			said[place{x.Turn, x.Step}] = x.Time
		}
	}
	factor := func(handle string) float64 {
		h, err := archive.ParseHandle(handle)
		if err != nil {
			return 1
		}
		at, ok := said[place{h.Turn, h.Step}]
		if !ok {
			return 1 // of another session, or a place without a text
		}
		return c.req.Confidence(h, at)
	}
	for _, it := range items {
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
}
