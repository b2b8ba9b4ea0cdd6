package compact

import (
	"container/heap"

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
	lines   []*line

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
	var q bids
	seq := 0
	offer := func(b bid) {
		b.seq = seq
		seq++
		if b.density = c.density(b); b.density > 0 {
			q = append(q, b)
		}
	}
	for _, it := range items {
		if it.must && c.cost(it) <= c.room {
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
	heap.Init(&q)
	for len(q) > 0 && c.room > minLine {
		b := q[0]
		if b.line == nil && b.item.taken || b.line != nil && c.said[b.line.text] {
			heap.Pop(&q)
			continue
		}
		if d := c.density(b); d < b.density {
			q[0].density = d
			heap.Fix(&q, 0)
			continue
		}
		heap.Pop(&q)
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
		}
		if fresh {
			for _, l := range b.item.lines {
				if c.said[l.text] {
					continue
				}
				nb := bid{item: b.item, line: l, seq: seq}
				seq++
				nb.density = c.density(nb)
				heap.Push(&q, nb)
			}
		}
	}
}

// minLine is the least room that is worth filling, in units.
const minLine = 24

// bids is a heap, densest first.
type bids []bid

func (q bids) Len() int { return len(q) }
func (q bids) Less(i, j int) bool {
	if q[i].density != q[j].density {
		return q[i].density > q[j].density
	}
	return q[i].seq < q[j].seq
}
func (q bids) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *bids) Push(x any)   { *q = append(*q, x.(bid)) }
func (q *bids) Pop() any {
	old := *q
	b := old[len(old)-1]
	*q = old[:len(old)-1]
	return b
}
