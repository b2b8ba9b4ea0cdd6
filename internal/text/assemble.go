package text

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Section is a titled list of items.
type Section struct {
	Title string // printed as a heading; "" prints none
	Items []Item
	// Max limits the units the section takes, its title included; 0: no limit.
	Max int
	// AsGiven prints the chosen items in the order given, for lists that read
	// in time; otherwise the best comes first.
	AsGiven bool
}

// Item is one thing worth telling.
type Item struct {
	Text   string // redacted before; several lines are indented
	Handle string // how to get the whole of it, may be empty
	// Value ranks the item among those of all sections; at equal value the
	// earlier section and the earlier item win.
	Value float64
	// Min allows the text to be cut down to this many units when it does not
	// fit whole; 0: whole or not at all.
	Min int
}

// minCut is the least that a text is cut to: any one character and the ellipsis.
const minCut = 3

// Assemble prints the most valuable items that fit into budget units, under
// their section's titles and in the order of the sections. Sections without a
// printed item are dropped; the last line says how much was left out and how to
// get it, unless even that does not fit beside a single item. used holds the
// printed items in printed order (Text as far as it was printed), left counts
// the others. Items without text count as nothing. The result is deterministic,
// and "" when nothing fits.
func Assemble(sections []Section, budget int) (text string, used []Item, left int) {
	lines := candidates(sections)
	// First as if everything fitted; else with room for the line that says what
	// is missing; and if then nothing fits, without that line.
	picked := pick(sections, lines, budget-lineUnits(footerFor(lines, 0)))
	if len(picked) < len(lines) {
		picked = pick(sections, lines, budget-lineUnits(footerFor(lines, len(lines))))
		if len(picked) == 0 {
			picked = pick(sections, lines, budget)
		}
	}
	if len(picked) == 0 {
		return "", nil, len(lines)
	}
	text, used = compose(sections, picked)
	left = len(lines) - len(picked)
	if footer := footerFor(lines, left); footer != "" && Units(text)+Units(footer) <= budget {
		return text + footer, used, left
	}
	return strings.TrimSuffix(text, "\n"), used, left
}

// line is an item on its way to the page.
type line struct {
	item         Item
	section, seq int
	prefix       string
	print        string // begins with prefix
	units        int    // of print and its newline
}

// candidates renders every item that has text, best first.
func candidates(sections []Section) []line {
	var lines []line
	for s := range sections {
		for i, it := range sections[s].Items {
			it.Text = strings.TrimSpace(it.Text)
			if it.Text == "" {
				continue
			}
			if math.IsNaN(it.Value) {
				it.Value = math.Inf(-1)
			}
			l := line{item: it, section: s, seq: i, prefix: "- "}
			if it.Handle != "" {
				l.prefix += "[" + it.Handle + "] "
			}
			l.print = l.prefix + strings.ReplaceAll(it.Text, "\n", "\n  ")
			l.units = lineUnits(l.print)
			lines = append(lines, l)
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.item.Value, a.item.Value) })
	return lines
}

// pick takes lines while they fit. A line that does not fit is cut when its item
// allows it, and otherwise passed over, so that smaller ones get their chance.
func pick(sections []Section, lines []line, budget int) []line {
	room := budget + 1 // the last newline is not printed
	spent := make([]int, len(sections))
	var picked []line
	for _, l := range lines {
		avail, head := room, 0
		if spent[l.section] == 0 {
			head = lineUnits(heading(sections[l.section].Title))
		}
		if limit := sections[l.section].Max; limit > 0 {
			avail = min(avail, limit+1-spent[l.section])
		}
		l, ok := l.fit(avail - head)
		if !ok {
			continue
		}
		room -= head + l.units
		spent[l.section] += head + l.units
		picked = append(picked, l)
	}
	return picked
}

// fit returns the line, cut if need be and allowed, and whether it takes no more
// than the given units.
func (l line) fit(units int) (line, bool) {
	if l.units <= units {
		return l, true
	}
	prefix := Units(l.prefix)
	if l.item.Min <= 0 || units-1-prefix < max(l.item.Min, minCut) {
		return l, false
	}
	l.print = Cut(l.print, units-1)
	l.item.Text = strings.ReplaceAll(l.print[len(l.prefix):], "\n  ", "\n")
	l.units = lineUnits(l.print)
	return l, true
}

// compose prints the picked lines in page order.
func compose(sections []Section, picked []line) (string, []Item) {
	slices.SortStableFunc(picked, func(a, b line) int {
		if c := cmp.Compare(a.section, b.section); c != 0 {
			return c
		}
		if sections[a.section].AsGiven {
			return cmp.Compare(a.seq, b.seq)
		}
		return 0 // picked is best first already
	})
	var b strings.Builder
	used := make([]Item, 0, len(picked))
	section := -1
	for _, l := range picked {
		if l.section != section {
			section = l.section
			if h := heading(sections[section].Title); h != "" {
				b.WriteString(h + "\n")
			}
		}
		b.WriteString(l.print + "\n")
		used = append(used, l.item)
	}
	return b.String(), used
}

func heading(title string) string {
	if title = strings.Join(strings.Fields(title), " "); title == "" {
		return ""
	}
	return "## " + title
}

// footerFor is the last line: what was left out, and what a handle is good for.
func footerFor(lines []line, left int) string {
	handles := slices.ContainsFunc(lines, func(l line) bool { return l.item.Handle != "" })
	switch {
	case left == 0 && !handles:
		return ""
	case left == 0:
		return "Any of these in full: strandline show HANDLE"
	case left == 1:
		return "1 more item left out: strandline show HANDLE, strandline search WORDS"
	}
	return fmt.Sprintf("%d more items left out: strandline show HANDLE, strandline search WORDS", left)
}

// lineUnits is the cost of a line with its newline; an empty one is not printed.
func lineUnits(s string) int {
	if s == "" {
		return 0
	}
	return Units(s) + 1
}
