package compact

import (
	"fmt"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// The sections of the block, in the order they are printed.
const (
	secAsked = iota
	secTasks
	secStood
	secErrors
	secFiles
	secReasons
	secCommands
	secSeen
	secRecap
	sections
)

func sectionTitles() []string {
	return []string{
		secAsked:    "## Asked by the user (verbatim)",
		secTasks:    "## Tasks still open",
		secStood:    "## Where the work stood",
		secErrors:   "## Errors not yet cured",
		secFiles:    "## Files changed",
		secReasons:  "## Decisions, reasons, findings",
		secCommands: "## Commands and how they ended",
		secSeen:     "## Read and seen on the way",
		secRecap:    "## From the summary of the compaction before",
	}
}

// subTitles are the titles where the sections stand below a heading.
func subTitles() []string {
	titles := sectionTitles()
	for i, t := range titles {
		titles[i] = "#" + t
	}
	return titles
}

// collector turns a session's past into items to choose from.
type collector struct {
	past    *past
	voc     *vocabulary
	found   *found
	root    string // the session's folder with a slash behind it, "" for none
	req     Request
	moments map[place]int
	steer   steering
	items   []*item
	failed  map[place]*item // open errors
	said    map[string]bool // replies that stand in the block already
	joined  joined
	slab    slab
	buf     []int32
}

type place struct{ turn, step int }

func (c *collector) moment(turn, step int) int { return c.moments[place{turn, step}] }

// age is how many moments ago a place was.
func (c *collector) age(turn, step int) int { return int(c.voc.now) - c.moment(turn, step) }

func (c *collector) handle(turn, step int) string {
	return c.past.ref(turn, step).Handle()
}

// newCollector reads the past into a vocabulary.
func newCollector(p *past, req Request) *collector {
	c := learnPast(p, req)
	c.settle(p.known)
	return c
}

// settle fixes what specifics are worth beside a text that names some of them.
func (c *collector) settle(known string) {
	c.voc.know(known)
	c.voc.settle(c.req.Weights)
}

// learnPast is newCollector without the worth, which gathering does not need.
func learnPast(p *past, req Request) *collector {
	c := &collector{past: p, req: req, steer: newSteering(req.Instructions), moments: make(map[place]int, len(p.passages)), failed: map[place]*item{}, said: map[string]bool{}}
	if cwd := p.session.Cwd; len(cwd) > 3 {
		c.root = cwd + "/"
	}
	c.number()
	c.found = p.specifics()
	c.voc = c.found.voc
	c.voc.now = int32(len(c.moments))
	for _, x := range p.recap {
		c.voc.learn(x.Text, 0, true)
	}
	for _, x := range p.prompts {
		c.voc.learn(x.Text, c.moment(x.Turn, x.Step), true)
	}
	for i := range p.passages {
		x := &p.passages[i]
		own, m := x.Kind == archive.KindReply || x.Kind == archive.KindEdit, int32(c.moment(x.Turn, x.Step))
		for _, id := range c.found.of(i) {
			c.voc.count(id, m, own)
		}
	}
	for _, x := range p.calls {
		m := c.moment(x.Turn, x.Step)
		c.voc.learn(x.Command, m, true)
		for _, f := range x.Files {
			c.voc.learn(f, m, true)
		}
	}
	if n := len(p.prompts); n > 0 {
		c.voc.ask(p.prompts[n-1].Text, 1)
	}
	for _, t := range p.tasks {
		if t.open() {
			c.voc.ask(t.subject, 1)
		}
	}
	c.voc.ask(req.Instructions, 2)
	return c
}

// specifics are those of the passages as they are now. What was read ahead is
// good for one vocabulary, as long as no passage was left out or filled since.
func (p *past) specifics() *found {
	f := p.found
	p.found = nil
	if f == nil || len(f.ends) != len(p.passages) {
		return findAll(textsOf(p.passages))
	}
	return f
}

// number gives each prompt and step in view its moment, oldest first.
func (c *collector) number() {
	i, j, k := 0, 0, 0
	p := c.past
	for i < len(p.prompts) || j < len(p.passages) || k < len(p.calls) {
		next := place{1 << 30, 0}
		if i < len(p.prompts) {
			next = earlier(next, place{p.prompts[i].Turn, p.prompts[i].Step})
		}
		if j < len(p.passages) {
			next = earlier(next, place{p.passages[j].Turn, p.passages[j].Step})
		}
		if k < len(p.calls) {
			next = earlier(next, place{p.calls[k].Turn, p.calls[k].Step})
		}
		c.moments[next] = len(c.moments)
		for i < len(p.prompts) && (place{p.prompts[i].Turn, p.prompts[i].Step}) == next {
			i++
		}
		for j < len(p.passages) && (place{p.passages[j].Turn, p.passages[j].Step}) == next {
			j++
		}
		for k < len(p.calls) && (place{p.calls[k].Turn, p.calls[k].Step}) == next {
			k++
		}
	}
}

func earlier(a, b place) place {
	if b.turn < a.turn || b.turn == a.turn && b.step < a.step {
		return b
	}
	return a
}

// add appends an item; text is its head.
func (c *collector) add(it item) *item {
	n := &it
	n.prior += c.steer.bonus(it.head)
	n.keys, _ = c.voc.keys(it.head, nil)
	n.units = text.Units("- [] :\n") + text.Units(it.handle) + text.Units(strings.ReplaceAll(it.head, "\n", "\n  "))
	c.items = append(c.items, n)
	return n
}

// What a line with few ordinary words, or with none, conveys of the worth of its
// specifics: a name without what is said of it helps less.
const (
	thinShare = 0.6
	bareShare = 0.25
)

// addLine appends a line under an item and returns it, nil if nothing speaks for
// it: no specific and no prior, or fewer ordinary words than asked for.
func (c *collector) addLine(it *item, body, handle string, prior float64, words int) *line {
	keys, w := c.voc.keys(body, c.buf[:0])
	c.buf = keys
	if w < words {
		return nil
	}
	return c.addFound(it, body, handle, prior, text.Units(body), keys, w)
}

// addFound is addLine for a text whose units, specifics and words are known.
func (c *collector) addFound(it *item, body, handle string, prior float64, units int, keys []int32, w int) *line {
	prior += c.steer.bonus(body)
	if len(keys) == 0 && prior <= 0 {
		return nil
	}
	if handle == it.handle {
		handle = ""
	}
	l := c.slab.next()
	*l = line{item: it, text: body, handle: handle, keys: c.slab.keep(keys), prior: prior, share: 1, seq: len(it.lines)}
	switch {
	case w == 0:
		l.share = bareShare
	case w < minWords:
		l.share = thinShare
	}
	l.units = units + text.Units("  \n")
	if handle != "" {
		l.units += text.Units(shortPlace(handle, it.handle)) + text.Units(" ()")
	}
	it.lines = append(it.lines, l)
	return l
}

// slab hands out lines and their keys from a few large pieces of memory: there
// are thousands, and a hook has no time for as many allocations.
type slab struct {
	lines []line
	keys  []int32
}

const slabSize = 1024

func (s *slab) next() *line {
	if len(s.lines) == 0 {
		s.lines = make([]line, slabSize)
	}
	l := &s.lines[0]
	s.lines = s.lines[1:]
	return l
}

// keep returns a copy of keys.
func (s *slab) keep(keys []int32) []int32 {
	if cap(s.keys)-len(s.keys) < len(keys) {
		s.keys = make([]int32, 0, max(4*slabSize, len(keys)))
	}
	from := len(s.keys)
	s.keys = append(s.keys, keys...)
	return s.keys[from:len(s.keys):len(s.keys)]
}

// shortPlace is the part of a handle behind the session, if that is the session
// of the handle before it.
func shortPlace(h, before string) string {
	at := strings.IndexByte(h, '/') + 1
	if strings.HasPrefix(before, h[:at]) {
		return h[at:]
	}
	return h
}

// short takes the session's folder off paths.
func (c *collector) short(s string) string {
	if c.root == "" {
		return s
	}
	return strings.ReplaceAll(s, c.root, "")
}

func plural(n int, one string) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d %s", n, one)
}
