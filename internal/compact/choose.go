package compact

import (
	"slices"
	"strings"

	"strandline/internal/text"
)

// item is one entry of the block: a head line with its handle and, beneath it,
// lines that are chosen one by one.
type item struct {
	section int
	rank    int    // position of the section
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
	queue   bids
	seq     int // of the next bid
}

// newChooser returns one that fills room units below the given titles.
func newChooser(voc *vocabulary, titles []string, room int) *chooser {
	return &chooser{
		voc: voc, covered: make([]uint8, len(voc.terms)), titles: titles, opened: make([]bool, sections),
		room: room, said: map[string]bool{},
	}
}

// pick chooses from items and prints what was chosen; left counts the others.
func (c *chooser) pick(items []*item) (body string, handles []string, left int) {
	c.choose(items)
	for _, it := range items {
		if !it.taken {
			left++
		}
	}
	body, handles = render(items, c.titles)
	return body, handles, left
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
		n += text.Units(c.titles[it.section]) + 1
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
	if it.section == secStood || it.section == secAsked {
		_, spoken, _ := strings.Cut(it.head, ": ")
		sentences(spoken, func(s string) { c.said[s] = true }) // no line has to say it again
	}
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
// is still the best after it was weighed again is the best of all; what makes a
// line worth more (its head was paid for, the line beside it was chosen) lets it
// bid anew.
func (c *chooser) choose(items []*item) {
	c.musts(items)
	n := len(items)
	for _, it := range items {
		n += len(it.lines)
	}
	c.queue = make(bids, 0, n)
	for _, it := range items {
		if !it.taken {
			c.offer(it, nil)
		}
		for _, l := range it.lines {
			c.offer(it, l)
		}
	}
	for len(c.queue) > 0 && c.room > minLine {
		b := c.queue[0]
		done := b.line == nil && b.item.taken || b.line != nil && c.said[b.line.text]
		if d := c.density(b); !done && d < b.density {
			c.queue[0].density = d
			c.queue.sink(0)
			continue
		}
		c.queue.drop()
		if !done && c.price(b) <= c.room {
			c.accept(b)
		}
	}
}

// musts takes the items that stand whatever they are worth.
func (c *chooser) musts(items []*item) {
	for _, it := range items {
		room := c.room
		if it.section != secAsked {
			room = room * mustShare / 100
		}
		if it.must && c.cost(it) <= room {
			c.take(it)
		}
	}
}

// offer puts a bid for a line, or for a head alone, into the queue.
func (c *chooser) offer(it *item, l *line) {
	b := bid{item: it, line: l, seq: c.seq}
	c.seq++
	if b.density = c.density(b); b.density > 0 {
		c.queue.push(b)
	}
}

// price is the room that a bid takes.
func (c *chooser) price(b bid) int {
	n := c.cost(b.item)
	if b.line != nil {
		n += b.line.units
	}
	return n
}

func (c *chooser) accept(b bid) {
	fresh := !b.item.taken
	c.take(b.item)
	if l := b.line; l != nil {
		c.room -= l.units
		c.cover(l.keys)
		b.item.chosen = append(b.item.chosen, l)
		c.said[l.text] = true
		for _, next := range c.beside(l) {
			next.prior += besideWorth
			c.offer(b.item, next)
		}
	}
	if !fresh {
		return
	}
	for _, l := range b.item.lines {
		if !c.said[l.text] {
			c.offer(b.item, l)
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
