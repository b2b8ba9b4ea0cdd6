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
	// Max limits the units of the section, title included; 0: no limit.
	Max int
	// AsGiven prints the selected items in the given order instead of best first.
	AsGiven bool
}

// Item is one entry of a section.
type Item struct {
	Text   string // already redacted; printed with its further lines indented
	Handle string // of the full content, may be empty
	// Value ranks the item among those of all sections. Of equal values the
	// earlier section and the earlier item win.
	Value float64
	// Min allows the text to be truncated to this many units if it does not fit;
	// 0: do not truncate.
	Min int
}

// minTruncated is the smallest length of a truncated text: one character of two
// units and the ellipsis.
const minTruncated = 3

// FitSections prints the most valuable items that fit into budget UTF-16 units,
// under the titles and in the order of their sections. Sections without a printed
// item are omitted. The last line gives the number of items left out and the
// commands that print them; it is omitted if it does not fit beside one item.
// used holds the printed items in printed order, with their text as printed; left
// is the number of the others. Items without text are ignored. The result depends
// on the input only, and is "" if nothing fits.
func FitSections(sections []Section, budget int) (text string, used []Item, left int) {
	lines := candidates(sections)
	// Try to print everything; else reserve the last line; if nothing fits beside
	// it, omit it.
	picked := pick(sections, lines, budget-Units(footerFor(lines, 0)))
	if len(picked) < len(lines) {
		picked = pick(sections, lines, budget-Units(footerFor(lines, len(lines))))
		if len(picked) == 0 {
			picked = pick(sections, lines, budget)
		}
	}
	if len(picked) == 0 {
		return "", nil, len(lines)
	}
	text, used = compose(sections, picked)
	left = len(lines) - len(picked)
	if footer := footerFor(lines, left); Units(text)+Units(footer) <= budget {
		text += footer
	}
	return text, used, left
}

// line is an item as printed.
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
			l.units = Units(l.print) + 1
			lines = append(lines, l)
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.item.Value, a.item.Value) })
	return lines
}

// pick selects the lines that fit, best first. A line that does not fit is
// truncated if its item allows that, and skipped otherwise.
func pick(sections []Section, lines []line, budget int) []line {
	left := budget + 1 // the last newline is not printed
	spent := make([]int, len(sections))
	var picked []line
	for _, l := range lines {
		avail, head := left, 0
		if spent[l.section] == 0 {
			head = Units(heading(sections[l.section].Title))
		}
		if limit := sections[l.section].Max; limit > 0 {
			avail = min(avail, limit+1-spent[l.section])
		}
		l, ok := l.fit(avail - head)
		if !ok {
			continue
		}
		left -= head + l.units
		spent[l.section] += head + l.units
		picked = append(picked, l)
	}
	return picked
}

// fit returns the line, truncated if necessary and allowed, and whether it takes
// at most the given units.
func (l line) fit(units int) (line, bool) {
	if l.units <= units {
		return l, true
	}
	prefix := Units(l.prefix)
	if l.item.Min <= 0 || units-1-prefix < max(l.item.Min, minTruncated) {
		return l, false
	}
	l.print = Truncate(l.print, units-1)
	l.item.Text = strings.ReplaceAll(l.print[len(l.prefix):], "\n  ", "\n")
	l.units = Units(l.print) + 1
	return l, true
}

// compose prints the picked lines in the order of their sections.
func compose(sections []Section, picked []line) (string, []Item) {
	slices.SortStableFunc(picked, func(a, b line) int {
		if a.section == b.section && sections[a.section].AsGiven {
			return a.seq - b.seq
		}
		return a.section - b.section // within a section, picked is sorted best first
	})
	var b strings.Builder
	used := make([]Item, 0, len(picked))
	section := -1
	for _, l := range picked {
		if l.section != section {
			section = l.section
			b.WriteString(heading(sections[section].Title))
		}
		b.WriteString(l.print + "\n")
		used = append(used, l.item)
	}
	return strings.TrimSuffix(b.String(), "\n"), used
}

// heading returns the line above a section, with its newline; "" without a title.
func heading(title string) string {
	if title = OneLine(title); title == "" {
		return ""
	}
	return "## " + title + "\n"
}

// footerFor returns the last line with the newline before it, or "": the number of items left out, and how to print
// an item in full.
func footerFor(lines []line, left int) string {
	handles := slices.ContainsFunc(lines, func(l line) bool { return l.item.Handle != "" })
	switch {
	case left == 0 && !handles:
		return ""
	case left == 0:
		return "\nAny of these in full: strandline show HANDLE"
	case left == 1:
		return "\n1 more item left out: strandline show HANDLE, strandline search WORDS"
	}
	return fmt.Sprintf("\n%d more items left out: strandline show HANDLE, strandline search WORDS", left)
}
