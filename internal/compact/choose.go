package compact

import (
	"slices"

	"strandline/internal/brief"
)

// item is one entry of the block: a head line with its handle and, beneath it,
// lines that are chosen one by one.
type item struct {
	section int
	order   int    // place within the section, ascending
	handle  string // of the head
	head    string // without bullet and handle
	keys    []int32
	prior   float64
	must    bool // stands whatever the rest is worth
	inline  bool // its lines stand behind the head, on the same line
	// introduces says that the head names the lines' source, so a colon parts them.
	introduces bool
	lines      []*line

	units  int
	taken  bool
	chosen []*line
}

// line is a line of text under an item.
type line struct {
	item   *item
	text   string
	handle string // where it differs from the item's
	keys   []int32
	prior  float64
	share  float64 // of its specifics' worth that it conveys
	seq    int
	units  int
}

// chooser picks the lines that bring most per character, counting each specific
// once: what one line has said, another gets little for.
type chooser struct {
	voc     *vocabulary
	covered []uint8
	titles  []string
	opened  []bool
	room    int
	said    map[string]bool // lines that were chosen
}

// repeated is the share of a specific's worth that its second mention brings.
const repeated = 0.05

// headShare is the share of a head's cost that its first line is charged with;
// the lines that follow share the rest.
const headShare = 0.5

func (c *chooser) gain(keys []int32, prior, share float64) float64 {
	for _, k := range keys {
		switch c.covered[k] {
		case 0:
			prior += share * c.voc.worth[k]
		case 1:
			prior += share * repeated * c.voc.worth[k]
		}
	}
	return prior
}

// cost is the room an item's head takes with its section's title.
func (c *chooser) cost(it *item) int {
	if it.taken {
		return 0
	}
	n := it.units
	if !c.opened[it.section] {
		n += brief.Units(c.titles[it.section]) + 1
	}
	return n
}

func (c *chooser) take(it *item) {
	if it.taken {
		return
	}
	c.room -= c.cost(it)
	it.taken, c.opened[it.section] = true, true
	c.cover(it.keys)
}

func (c *chooser) cover(keys []int32) {
	for _, k := range keys {
		if c.covered[k] < 2 {
			c.covered[k]++
		}
	}
}

// besideWorth is what a line gains when the one beside it was chosen: two lines
// that stand together say more than two that do not.
const besideWorth = 0.15

// bid is a line, or an item's head alone, on its way to be chosen.
type bid struct {
	item    *item
	line    *line // nil: the head alone
	density float64
	seq     int // breaks ties
}

func (c *chooser) density(b bid) float64 {
	g, n := 0.0, 0.0
	if !b.item.taken {
		g = c.gain(b.item.keys, b.item.prior, 1)
		n = float64(c.cost(b.item))
	}
	if b.line != nil {
		n = n*headShare + float64(b.line.units)
		g += c.gain(b.line.keys, b.line.prior, b.line.share)
	}
	return g / n
}

// choose fills the room. Gains only fall as specifics are covered, so a bid that
// is still the best after it was weighed again is the best of all; a head that
// was paid for makes its lines cheaper, so they bid anew.
func (c *chooser) choose(items []*item) {
	n, seq := len(items), 0
	for _, it := range items {
		n += len(it.lines)
	}
	q := make(bids, 0, n)
	offer := func(b bid) {
		b.seq = seq
		seq++
		if b.density = c.density(b); b.density > 0 {
			q = append(q, b)
		}
	}
	for _, it := range items {
		room := c.room
		if it.section != secAsked {
			room = room * mustShare / 100
		}
		if it.must && c.cost(it) <= room {
			c.take(it)
		}
	}
	for _, it := range items {
		if !it.taken {
			offer(bid{item: it})
		}
		for _, l := range it.lines {
			offer(bid{item: it, line: l})
		}
	}
	q.order()
	for len(q) > 0 && c.room > minLine {
		b := q[0]
		if b.line == nil && b.item.taken || b.line != nil && c.said[b.line.text] {
			q.drop()
			continue
		}
		if d := c.density(b); d < b.density {
			q[0].density = d
			q.sink(0)
			continue
		}
		q.drop()
		n := c.cost(b.item)
		if b.line != nil {
			n += b.line.units
		}
		if n > c.room {
			continue
		}
		fresh := !b.item.taken
		c.take(b.item)
		if b.line != nil {
			c.room -= b.line.units
			c.cover(b.line.keys)
			b.item.chosen = append(b.item.chosen, b.line)
			c.said[b.line.text] = true
			for _, next := range c.beside(b.line) {
				next.prior += besideWorth
				nb := bid{item: b.item, line: next, seq: seq}
				seq++
				nb.density = c.density(nb)
				q.push(nb)
			}
		}
		if fresh {
			for _, l := range b.item.lines {
				if c.said[l.text] {
					continue
				}
				nb := bid{item: b.item, line: l, seq: seq}
				seq++
				nb.density = c.density(nb)
				q.push(nb)
			}
		}
	}
}

// mustShare is how much of the room that is left, in percent, an item takes at
// most when it stands whatever it is worth. What the user asked may take all.
const mustShare = 60

// beside returns the lines of a source that stand next to one that was chosen.
func (c *chooser) beside(l *line) []*line {
	lines := l.item.lines
	if !l.item.introduces {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(lines[max(0, l.seq-1):min(len(lines), l.seq+2)]), func(x *line) bool { return c.said[x.text] })
}

// minLine is the least room that is worth filling, in units.
const minLine = 24

// bids is a binary heap, densest first.
type bids []bid

func (q bids) before(i, j int) bool {
	if q[i].density != q[j].density {
		return q[i].density > q[j].density
	}
	return q[i].seq < q[j].seq
}

// order makes a heap of q.
func (q bids) order() {
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.sink(i)
	}
}

// sink moves the bid at i down to its place.
func (q bids) sink(i int) {
	for {
		top := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(q) && q.before(child, top) {
				top = child
			}
		}
		if top == i {
			return
		}
		q[i], q[top] = q[top], q[i]
		i = top
	}
}

func (q *bids) push(b bid) {
	*q = append(*q, b)
	for i := len(*q) - 1; i > 0; {
		parent := (i - 1) / 2
		if !q.before(i, parent) {
			return
		}
		(*q)[i], (*q)[parent] = (*q)[parent], (*q)[i]
		i = parent
	}
}

// drop removes the densest bid.
func (q *bids) drop() {
	last := len(*q) - 1
	(*q)[0] = (*q)[last]
	*q = (*q)[:last]
	q.sink(0)
}
