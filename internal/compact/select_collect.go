package compact

import (
	"slices"
	"strings"

	"strandline/internal/text"
)

// The sections of a restored context, in default order.
const (
	secOrders = iota
	secState
	secTasks
	secReported
	secErrors
	secTurns
	secFiles
	secCommands
	secReads
	secSummary
	secNames
	secSegments
	secChanges
	sections
)

// sectionTitle returns the heading of a section, in Markdown.
func (r Request) sectionTitle(section int) string {
	if r.Prompted && section == secTurns {
		return "## The assistant's words at [turn.step], oldest first"
	}
	if r.handsOver() && section == secTurns {
		return "## Conversation and decisions, oldest first: the user's words, and the assistant's at [turn.step]"
	}
	return "## " + [sections]string{
		secOrders:   "Standing instructions",
		secTurns:    "Conversation, oldest first: the user's words, and the assistant's at [turn.step]",
		secState:    "Current state",
		secTasks:    "Tasks",
		secReported: "State of the work as another program reported it",
		secErrors:   "Open errors",
		secFiles:    "Changed files",
		secCommands: "Commands and results",
		secReads:    "Reports and other results",
		secSummary:  "From the summary of the previous compaction, as of then",
		secNames:    "Names in these files, for their exact spelling",
		secSegments: "Segment summaries",
		secChanges:  "Uncommitted changes (git diff --stat HEAD)",
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
	names    []*line // terms in its source, printed on the line of the head
	source   bool    // the head names the source of the lines; a colon follows it
	lines    []*line
	units    int // of the head

	selected    bool
	chosen      []*line
	chosenNames []*line
}

// line is a candidate line of an entry.
type line struct {
	entry  *entry
	text   string
	handle string // if it differs from the entry's
	terms  []int32
	prior  float64 // value apart from the terms
	factor float64 // of the terms' values
	at     int     // line of the transcript, 0 in entries that are not ordered by it
	seq    int     // in the entry
	name   bool    // one of the entry's names
	reason bool    // a reply gives a decision or a reason
	// required lines are selected before all else.
	required bool
	units    int
}

// collector builds the entries of one goroutine.
type collector struct {
	*view
	entries []*entry
	slab    slab
	named   []bool // terms that are among the names of an entry
	buf     []int32
}

// collect returns the candidate entries of all sections. meanwhile runs beside it, if
// it is not nil.
func (v *view) collect(meanwhile func()) []*entry {
	v.hunks, v.plan = v.findHunks(), v.readPlan()
	files, reads, names := v.collectAsync(collectFiles), v.collectAsync(collectReads), v.collectAsync(collectNames)
	c, prompts := &collector{view: v}, v.promptTexts()
	var quoted quotation
	if !v.stateless {
		quoted = collectState(c, prompts)
	}
	collectTurns(c, prompts, quoted)
	collectTasks(c)
	collectSnapshot(c)
	collectCommands(c)
	collectSummary(c)
	if meanwhile != nil {
		meanwhile()
	}
	return slices.Concat(c.entries, <-files, <-reads, <-names)
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
	n.units = text.Units("- [] :\n") + text.Units(c.local(e.handle)) + text.Units(strings.ReplaceAll(e.head, "\n", "\n  "))
	c.entries = append(c.entries, n)
	return n
}

// addPiece appends a candidate to an entry. Its value is the density times its units,
// and the factor times the values of its terms. A piece without either, and one of
// few words without a density, is left out.
func (c *collector) addPiece(e *entry, body, handle string, density, factor float64) *line {
	terms, words := c.terms.unique(body, c.buf[:0])
	c.buf = terms
	match := c.instructions.match(body)
	if density == 0 && match == 0 && (words < minWords || len(terms) == 0) {
		return nil
	}
	units := text.Units(body) + 2*strings.Count(body, "\n")
	l := c.slab.next()
	*l = line{entry: e, text: body, prior: density*float64(units) + match, terms: c.slab.keep(terms), factor: factor, seq: len(e.lines)}
	l.units = units + text.Units("  \n")
	if handle != e.handle {
		l.handle = handle
		l.units += handleUnits(c.local(handle))
	}
	e.lines = append(e.lines, l)
	return l
}

// setLine orders a line by its place in the transcript. A nil line is ignored.
func (l *line) setLine(n int) {
	if l != nil {
		l.at = n
	}
}

// addNames adds the terms of a text to the names of an entry, each in one entry only.
func (c *collector) addNames(e *entry, body string) {
	if c.named == nil {
		c.named = make([]bool, len(c.terms.terms))
	}
	text.Terms(strings.ReplaceAll(body, `\n`, " "), func(name string) { // \n of a quoted string
		id, ok := c.terms.ids[name]
		if at := strings.LastIndexByte(name, '-'); at > 0 && strings.Trim(name[at+1:], "0123456789") == "" && strings.Contains(name[:at], ".") {
			return // a file and a line number, as grep prints them
		}
		if !ok || c.named[id] || isMember(name) {
			return
		}
		c.named[id] = true
		n := c.slab.next()
		*n = line{entry: e, text: name, terms: c.slab.keep([]int32{id}), factor: 1, seq: len(e.names), units: text.Units(name) + 2, name: true}
		e.names = append(e.names, n)
	})
}

// isMember reports whether a dotted name is a member of a variable with one or two
// letters: it needs no list to be spelled.
func isMember(name string) bool {
	first, _, dotted := strings.Cut(name, ".")
	return dotted && len(first) <= 2 && dottedShape(name) == "dotted.name"
}

// handleUnits returns the units of a line's handle in print.
func handleUnits(local string) int { return text.Units(local) + text.Units("[] ") }

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

// collectSummary adds the statements of a summary that has left the context.
func collectSummary(c *collector) {
	var e *entry
	for i, x := range c.past.oldSummary {
		if h := c.handle(x.Turn, x.Step); e == nil || e.handle != h {
			e = c.add(entry{section: secSummary, order: i, handle: h, head: "Summary by the client", source: true})
		}
		statements(withoutClientNotes(c.short(x.Text)), nil, func(s statement) { c.addPiece(e, s.text, e.handle, densityReport, 1) })
	}
}
