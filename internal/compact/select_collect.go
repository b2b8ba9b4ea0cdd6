package compact

import (
	"slices"
	"strings"

	"strandline/internal/text"
)

// The sections of a restored context, in default order.
const (
	secRequests = iota
	secTasks
	secState
	secErrors
	secFiles
	secDecisions
	secCommands
	secReads
	secSummary
	sections
)

// sectionTitle returns the title of a section.
func sectionTitle(section int) string {
	return [sections]string{
		secRequests:  "User requests (verbatim)",
		secTasks:     "Open tasks",
		secState:     "Current state",
		secErrors:    "Open errors",
		secFiles:     "Changed files",
		secDecisions: "Decisions and findings",
		secCommands:  "Commands and results",
		secReads:     "Files read and tool results",
		secSummary:   "Summary of the previous compaction",
	}[section]
}

// entry is a bullet point: a head with its handle, and lines below it that are
// selected one by one.
type entry struct {
	section  int
	rank     int    // of the section in print
	order    int    // within the section, ascending
	handle   string // of the head
	head     string // without bullet and handle
	terms    []int32
	prior    float64 // value apart from the terms
	required bool    // selected whatever its value
	inline   bool    // the lines follow the head on the same line
	source   bool    // the head names the source of the lines; a colon follows it
	lines    []*line
	units    int // of the head

	selected bool
	chosen   []*line
}

// line is a candidate line of an entry.
type line struct {
	entry  *entry
	text   string
	handle string // if it differs from the entry's
	terms  []int32
	prior  float64 // value apart from the terms
	factor float64 // of the terms' values
	seq    int     // in the entry
	units  int
}

// The factor of a line with fewer than minWords ordinary words, or with none: a
// name without context helps less.
const (
	fewWordsFactor = 0.6
	noWordsFactor  = 0.25
)

// collector builds the entries of one goroutine.
type collector struct {
	*view
	entries []*entry
	slab    slab
	buf     []int32
}

// collect returns the candidate entries of all sections. Changed files and replies
// take longest and depend on little else, so they are collected in goroutines;
// meanwhile runs while collect waits for them, if it is not nil.
func (v *view) collect(meanwhile func()) []*entry {
	files := v.collectAsync(collectFiles)
	c := &collector{view: v}
	collectRequests(c)
	collectTasks(c)
	quoted := collectState(c)
	replies := v.collectAsync(func(c *collector) { collectReplies(c, quoted) })
	collectRecentReads(c)
	failed := collectFailures(c)
	first := len(c.entries)
	collectCommands(c, failed)
	collectSummary(c)
	if meanwhile != nil {
		meanwhile()
	}
	return slices.Concat(c.entries[:first], <-files, <-replies, c.entries[first:])
}

// collectAsync runs a step in a goroutine, which sends its entries.
func (v *view) collectAsync(step func(*collector)) <-chan []*entry {
	done := make(chan []*entry, 1)
	go func() {
		c := &collector{view: v}
		step(c)
		done <- c.entries
	}()
	return done
}

// add appends an entry with the given head.
func (c *collector) add(e entry) *entry {
	n := &e
	n.prior += c.instructions.match(e.head)
	n.terms, _ = c.terms.unique(e.head, nil)
	n.units = text.Units("- [] :\n") + text.Units(e.handle) + text.Units(strings.ReplaceAll(e.head, "\n", "\n  "))
	c.entries = append(c.entries, n)
	return n
}

// addLine appends a candidate line to an entry and returns it; nil if it has
// neither a term nor a prior value, or fewer ordinary words than minimum.
func (c *collector) addLine(e *entry, body, handle string, prior float64, minimum int) *line {
	terms, words := c.terms.unique(body, c.buf[:0])
	c.buf = terms
	if words < minimum {
		return nil
	}
	return c.addScanned(e, line{text: body, handle: handle, prior: prior, terms: terms, units: text.Units(body)}, words)
}

// addScanned is addLine for a line with known units, terms and words. It copies
// the terms.
func (c *collector) addScanned(e *entry, l line, words int) *line {
	l.prior += c.instructions.match(l.text)
	if len(l.terms) == 0 && l.prior <= 0 {
		return nil
	}
	l.entry, l.terms, l.seq, l.factor = e, c.slab.keep(l.terms), len(e.lines), 1
	switch {
	case words == 0:
		l.factor = noWordsFactor
	case words < minWords:
		l.factor = fewWordsFactor
	}
	l.units += text.Units("  \n")
	if l.handle == e.handle {
		l.handle = ""
	}
	if l.handle != "" {
		l.units += text.Units(shortHandle(l.handle, e.handle)) + text.Units(" ()")
	}
	n := c.slab.next()
	*n = l
	e.lines = append(e.lines, n)
	return n
}

// addSentences adds the sentences of a text to an entry.
func (c *collector) addSentences(e *entry, body, handle string, prior float64) {
	sentences(body, func(s string) { c.addLine(e, s, handle, prior, minWords) })
}

// slab allocates lines and term lists in large blocks: there are thousands, and
// single allocations would slow a hook down.
type slab struct {
	lines []line
	terms []int32
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

// keep returns a copy of terms.
func (s *slab) keep(terms []int32) []int32 {
	if cap(s.terms)-len(s.terms) < len(terms) {
		s.terms = make([]int32, 0, max(4*slabSize, len(terms)))
	}
	from := len(s.terms)
	s.terms = append(s.terms, terms...)
	return s.terms[from:len(s.terms):len(s.terms)]
}

// shortHandle omits the session from a handle if another handle names the same.
func shortHandle(h, other string) string {
	at := strings.IndexByte(h, '/') + 1
	if strings.HasPrefix(other, h[:at]) {
		return h[at:]
	}
	return h
}

// scannedLine is a line of a passage, ready to print.
type scannedLine struct {
	text  string  // "" for a line without content
	known bool    // terms and words are set
	terms []int32 // in order of appearance
	words int
}

// scan makes a line of a passage printable. at is its index in the term index,
// which still holds for a line that only lost its margins.
func (v *view) scan(raw string, at int) (l scannedLine) {
	short := v.short(raw)
	if l.text, l.known = printable(short); l.text == "" {
		return scannedLine{}
	}
	if l.known = l.known && len(short) == len(raw); l.known {
		l.terms, l.words = v.index.line(at)
	}
	return l
}

// lineMerger adds the lines of a text to an entry, merging those with fewer than
// minWords ordinary words with the lines that follow.
type lineMerger struct {
	c      *collector
	entry  *entry // of the pending line, nil for none
	line   line   // pending; its terms are unordered
	words  int
	factor float64
}

// lineBreak separates merged lines in print.
const lineBreak = " ⏎ "

func (m *lineMerger) add(e *entry, l scannedLine, handle string, prior, factor float64) {
	units, breakUnits := text.Units(l.text), text.Units(lineBreak)
	if m.entry != nil && (m.entry != e || m.line.handle != handle || m.line.units+breakUnits+units > maxLineUnits) {
		m.flush()
	}
	p := &m.line
	if m.entry == nil {
		m.entry, m.factor = e, factor
		p.text, p.handle, p.units, p.prior = l.text, handle, units, prior
	} else {
		p.text += lineBreak + l.text
		p.units += breakUnits + units
		p.prior, m.factor = max(p.prior, prior), min(m.factor, factor)
	}
	words := l.words
	if l.known {
		p.terms = append(p.terms, l.terms...)
	} else {
		p.terms, words = m.c.terms.find(l.text, p.terms)
	}
	if m.words += words; m.words >= minWords {
		m.flush()
	}
}

// flush adds the pending line.
func (m *lineMerger) flush() {
	if m.entry == nil {
		return
	}
	slices.Sort(m.line.terms)
	m.line.terms = slices.Compact(m.line.terms)
	if l := m.c.addScanned(m.entry, m.line, m.words); l != nil && m.factor < 1 {
		l.factor = m.factor
	}
	*m = lineMerger{c: m.c, line: line{terms: m.line.terms[:0]}}
}
