package compact

import (
	"strings"

	"strandline/internal/brief"
)

// run is what is gathered of a text until it can be read on its own: a line of
// code with fewer than three ordinary words says little without the one that
// stands beside it.
type run struct {
	item   *item
	text   strings.Builder
	handle string
	units  int
	words  int
	prior  float64
	share  float64
}

// joint stands between two lines of a text that are told on one.
const joint = " ⏎ "

// join adds a line of a text under an item, together with those after it until
// there are words enough.
func (c *collector) join(it *item, text, handle string, prior, share float64) {
	r := &c.run
	n := brief.Units(text)
	if r.item != nil && (r.item != it || r.handle != handle || r.units+n+len(joint) > maxLineUnits) {
		c.flush()
	}
	if r.item == nil {
		r.item, r.handle, r.share = it, handle, share
	} else {
		r.text.WriteString(joint)
		r.units += 3
	}
	r.text.WriteString(text)
	r.units += n
	r.prior = max(r.prior, prior)
	r.share = min(r.share, share)
	r.words += scanSpecifics(text, func(string) {})
	if r.words >= minWords {
		c.flush()
	}
}

// flush adds what was gathered.
func (c *collector) flush() {
	r := &c.run
	if r.item == nil {
		return
	}
	if l := c.addLine(r.item, r.text.String(), r.handle, r.prior, 0); l != nil && r.share < 1 {
		l.share = r.share
	}
	*r = run{}
}
