package compact

import (
	"slices"

	"strandline/internal/text"
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
func (c *collector) join(it *item, l told, handle string, prior, share float64) {
	r, body := &c.joined, l.text
	units := text.Units(body)
	if r.item != nil && (r.item != it || r.handle != handle || r.units+jointUnits+units > maxLineUnits) {
		c.flush()
	}
	if r.item == nil {
		r.item, r.text, r.handle, r.units, r.prior, r.share = it, body, handle, units, prior, share
	} else {
		r.text += joint + body
		r.units += jointUnits + units
		r.prior, r.share = max(r.prior, prior), min(r.share, share)
	}
	words := l.words
	if l.whole {
		r.keys = append(r.keys, l.keys...)
	} else {
		r.keys, words = c.voc.find(body, r.keys)
	}
	if r.words += words; r.words >= minWords {
		c.flush()
	}
}

// told is a line of a passage as it is told.
type told struct {
	text  string // "" for one that says nothing
	whole bool   // it has the specifics and the words of the line as it was
	keys  []int32
	words int
}

// tell makes one line of a passage's fit to print. at is the line's place among
// those that were read before.
func (c *collector) tell(raw string, at int) (l told) {
	short := c.short(raw)
	if l.text, l.whole = tidied(short); l.text == "" {
		return told{}
	}
	if l.whole = l.whole && len(short) == len(raw); l.whole {
		l.keys, l.words = c.found.at(at)
	}
	return l
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
