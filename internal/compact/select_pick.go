package compact

import (
	"cmp"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

const (
	// minLine is the smallest budget worth filling, in units.
	minLine = 24
	// repeatFactor is the part of a term's value that its second mention adds.
	repeatFactor = 0.05
	// headFactor is the part of a head's cost that is charged to its first line.
	// The lines that follow share the rest.
	headFactor = 0.5
	// requiredShare limits a required entry to this percentage of the remaining
	// budget. The state and the prompts may take all of it.
	requiredShare = 60
)

// Names that are printed alone, without a statement.
const (
	nameFactor = 5  // of their terms' values
	manyNames  = 12 // names of one entry after which the factor is half
	namesShare = 8  // of the budget, one part in namesShare is for names at most
)

// selector selects the lines with the highest score, which is value per unit, and
// counts each term once.
type selector struct {
	title   func(section int) string
	terms   *vocabulary
	session string // whose handles are printed without it
	layout  layout
	names   float64 // factor of terms that are printed alone
	covered []uint8 // times that each term was selected, at most 2
	opened  [sections]bool
	budget  int             // units left
	room    int             // of them for names
	seen    map[string]bool // texts of the selected lines
	queue   candidates
	seq     int // of the next candidate
}

func newSelector(v *view, l layout, budget int) *selector {
	return &selector{
		title: v.req.sectionTitle, terms: v.terms, session: v.past.session.ID, layout: l, names: nameFactor, covered: make([]uint8, len(v.terms.terms)),
		budget: budget, room: budget / namesShare, seen: map[string]bool{},
	}
}

// pick selects from entries and prints the result; left is the number of entries
// that were not selected.
func (s *selector) pick(entries []*entry) (body string, handles []string, left int) {
	s.layout.apply(entries)
	s.fill(entries)
	for _, e := range entries {
		if !e.selected && (e.prior > 0 || len(e.lines)+len(e.names) > 0) {
			left++
		}
	}
	body, handles = s.print(entries)
	return body, handles, left
}

// value returns the value that a head or line adds to the selection.
func (s *selector) value(terms []int32, prior, factor float64) float64 {
	for _, t := range terms {
		switch s.covered[t] {
		case 0:
			prior += factor * s.terms.value[t]
		case 1:
			prior += factor * repeatFactor * s.terms.value[t]
		}
	}
	return prior
}

// headCost returns the units of an entry's head, and of its section's title if
// that is not printed yet; 0 if the entry is selected.
func (s *selector) headCost(e *entry) int {
	if e.selected {
		return 0
	}
	n := e.units
	if !s.opened[e.section] {
		n += text.Units(s.title(e.section)) + 1
	}
	return n
}

// score returns the value per unit of a candidate.
func (s *selector) score(c candidate) float64 {
	value, cost := 0.0, 0.0
	if !c.entry.selected {
		value = s.value(c.entry.terms, c.entry.prior, 1)
		cost = float64(s.headCost(c.entry))
	}
	if c.line != nil {
		cost = cost*headFactor + float64(c.line.units)
		factor := c.line.factor
		if c.line.name { // a long list of names says little
			factor = s.names / (1 + float64(len(c.entry.chosenNames))/manyNames)
		}
		value += s.value(c.line.terms, c.line.prior, factor)
	}
	return value / cost
}

// fill selects required entries, then candidates by score until the budget is
// spent. Scores fall as terms are covered, so a candidate that is still the best
// after its score was computed again is the best of all. If the score of a line
// rises, because its head was selected, it becomes a new candidate.
func (s *selector) fill(entries []*entry) {
	for _, e := range entries {
		for _, l := range e.lines {
			if l.required && s.headCost(e)+l.units <= s.budget {
				s.selectCandidate(candidate{entry: e, line: l})
			}
		}
	}
	n := 0
	for _, e := range entries {
		n += 1 + len(e.lines) + len(e.names)
		budget := s.budget
		if e.section != secTurns && e.section != secState {
			budget = budget * requiredShare / 100
		}
		if e.required && s.headCost(e) <= budget {
			s.selectHead(e)
		}
	}
	s.queue = make(candidates, 0, n)
	for _, e := range entries {
		if !e.selected {
			s.push(e, nil)
		}
		for _, l := range e.lines {
			s.push(e, l)
		}
		for _, l := range e.names {
			s.push(e, l)
		}
	}
	for len(s.queue) > 0 && s.budget > minLine {
		c := s.queue[0]
		done := c.line == nil && c.entry.selected || c.line != nil && (s.seen[c.line.text] || c.line.name && s.covered[c.line.terms[0]] > 0)
		if score := s.score(c); !done && score < c.score {
			s.queue[0].score = score
			s.queue.sink(0)
			continue
		}
		s.queue.pop()
		cost := s.headCost(c.entry)
		if c.line != nil {
			cost += c.line.units
			done = done || c.line.name && s.room < c.line.units
		}
		if !done && cost <= s.budget {
			s.selectCandidate(c)
		}
	}
}

// push adds a candidate to the queue if it has a value.
func (s *selector) push(e *entry, l *line) {
	c := candidate{entry: e, line: l, seq: s.seq}
	s.seq++
	if c.score = s.score(c); c.score > 0 {
		s.queue.push(c)
	}
}

func (s *selector) selectHead(e *entry) {
	if e.selected {
		return
	}
	s.budget -= s.headCost(e)
	e.selected, s.opened[e.section] = true, true
	s.cover(e.terms)
}

func (s *selector) cover(terms []int32) {
	for _, t := range terms {
		if s.covered[t] < 2 {
			s.covered[t]++
		}
	}
}

func (s *selector) selectCandidate(c candidate) {
	newHead := !c.entry.selected
	s.selectHead(c.entry)
	if l := c.line; l != nil {
		s.budget -= l.units
		if l.handle != "" && slices.ContainsFunc(c.entry.chosen, func(x *line) bool { return x.handle == l.handle }) {
			s.budget += handleUnits(localHandle(l.handle, s.session)) // printed once
		}
		s.cover(l.terms)
		if l.name {
			c.entry.chosenNames = append(c.entry.chosenNames, l)
			s.room -= l.units
			return
		}
		c.entry.chosen = append(c.entry.chosen, l)
		s.seen[l.text] = true
	}
	if newHead {
		for _, l := range c.entry.lines {
			if !s.seen[l.text] {
				s.push(c.entry, l)
			}
		}
		for _, l := range c.entry.names {
			s.push(c.entry, l)
		}
	}
}

// candidate is a line with its entry's head, or a head alone.
type candidate struct {
	entry *entry
	line  *line // nil for the head alone
	score float64
	seq   int // breaks ties
}

// candidates is a binary heap with the highest score first. It avoids the
// interface calls of container/heap.
type candidates []candidate

func (q candidates) before(i, j int) bool {
	if q[i].score != q[j].score {
		return q[i].score > q[j].score
	}
	return q[i].seq < q[j].seq
}

// sink restores the heap order after the score at i has fallen.
func (q candidates) sink(i int) {
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

func (q *candidates) push(c candidate) {
	*q = append(*q, c)
	for i := len(*q) - 1; i > 0; {
		parent := (i - 1) / 2
		if !q.before(i, parent) {
			return
		}
		(*q)[i], (*q)[parent] = (*q)[parent], (*q)[i]
		i = parent
	}
}

// pop removes the first candidate.
func (q *candidates) pop() {
	last := len(*q) - 1
	(*q)[0] = (*q)[last]
	*q = (*q)[:last]
	q.sink(0)
}

// print returns the selected entries below their section titles, and the handles
// in them.
func (s *selector) print(entries []*entry) (string, []string) {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e *entry) bool { return !e.selected })
	slices.SortStableFunc(entries, func(a, b *entry) int { return cmp.Or(a.rank-b.rank, a.order-b.order) })
	p := printer{session: s.session}
	section := -1
	for _, e := range entries {
		if e.section != section {
			section = e.section
			p.WriteString(s.title(section) + "\n")
		}
		p.entry(e)
	}
	return p.String(), p.handles
}

// printer writes entries and notes the handles in them, each once.
type printer struct {
	strings.Builder
	session string
	handles []string
}

func (p *printer) note(handle string) {
	if handle != "" && !slices.Contains(p.handles, handle) {
		p.handles = append(p.handles, handle)
	}
}

func (p *printer) entry(e *entry) {
	p.WriteString("-")
	if e.handle != "" {
		p.WriteString(" [" + localHandle(e.handle, p.session) + "]")
		p.note(e.handle)
	}
	slices.SortFunc(e.chosen, func(x, y *line) int { return cmp.Or(x.at-y.at, x.seq-y.seq) })
	if e.head != "" {
		p.WriteString(" " + strings.ReplaceAll(e.head, "\n", "\n  "))
		slices.SortFunc(e.chosenNames, func(x, y *line) int { return x.seq - y.seq })
		separator := " "
		for _, l := range e.chosenNames {
			p.WriteString(separator + l.text)
			separator = ", "
		}
		if len(e.chosen) > 0 && e.source {
			p.WriteByte(':')
		}
	}
	handle := ""
	for _, l := range e.chosen {
		p.WriteString("\n  ")
		if l.handle != "" && l.handle != handle {
			p.WriteString("[" + localHandle(l.handle, p.session) + "] ")
			p.note(l.handle)
		}
		handle = l.handle
		p.WriteString(strings.ReplaceAll(l.text, "\n", "\n  "))
	}
	p.WriteByte('\n')
}

// footer returns the last line of a restored context: the number of entries left
// out, and how to find them.
func footer(session string, left int) string {
	id := archive.ShortID(session)
	out := omitted(session, left)
	if out != "" {
		out += " "
	}
	return out + "strandline show " + id + "/TURN.STEP prints what a [TURN.STEP] above refers to in full; strandline search \"WORDS\" --session " + id + " finds the rest."
}

// omitted reports how many entries were left out.
func omitted(_ string, left int) string {
	if left == 0 {
		return ""
	}
	return text.Count(left, "more item") + " omitted."
}
