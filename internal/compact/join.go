package compact

import (
	"slices"

	"strandline/internal/brief"
)

// joined is what is gathered of a text until it can be read on its own: a line of
// code with fewer than three ordinary words says little without the one that
// stands beside it.
type joined struct {
	item   *item
	text   string
	handle string
	keys   []int32 // in no order
	units  int
	words  int
	prior  float64
	share  float64
}

// joint stands between two lines of a text that are told on one.
const joint = " ⏎ "

// jointUnits is what it takes in a block.
const jointUnits = 3

// join adds a line of a text under an item, together with those after it until
// there are words enough.
func (c *collector) join(it *item, text, handle string, prior, share float64) {
	r := &c.joined
	units := brief.Units(text)
	if r.item != nil && (r.item != it || r.handle != handle || r.units+jointUnits+units > maxLineUnits) {
		c.flush()
	}
	if r.item == nil {
		r.item, r.text, r.handle, r.units, r.prior, r.share = it, text, handle, units, prior, share
	} else {
		r.text += joint + text
		r.units += jointUnits + units
		r.prior, r.share = max(r.prior, prior), min(r.share, share)
	}
	keys, words := c.voc.find(text, r.keys)
	r.keys = keys
	if r.words += words; r.words >= minWords {
		c.flush()
	}
}

// flush adds what was gathered.
func (c *collector) flush() {
	r := &c.joined
	if r.item == nil {
		return
	}
	slices.Sort(r.keys)
	r.keys = slices.Compact(r.keys)
	if l := c.addFound(r.item, r.text, r.handle, r.prior, r.units, r.keys, r.words); l != nil && r.share < 1 {
		l.share = r.share
	}
	*r = joined{keys: r.keys[:0]}
}
