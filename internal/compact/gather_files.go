package compact

import (
	"cmp"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// source is a file, or the answer of one tool call, that lines are taken from.
type source struct {
	item *item
	// gone are lines that a later edit took away: what was read before it is out
	// of date.
	gone map[string]bool
}

// files adds one item per changed file and one per file read, with the lines of
// what was written and seen.
func (c *collector) files() {
	edits, reads := map[string]int{}, map[string]int{}
	for _, x := range c.past.calls {
		for _, f := range x.Files {
			switch {
			case x.Kind == archive.CallEdit && !x.Failed:
				edits[f]++
			case x.Kind == archive.CallRead:
				reads[f]++
			}
		}
	}
	sources := map[string]*source{}
	for i := len(c.past.passages) - 1; i >= 0; i-- { // newest first
		x := c.past.passages[i]
		if x.Kind != archive.KindEdit && x.Kind != archive.KindOutput || c.undone(x) {
			continue
		}
		path, key := "", c.handle(x.Turn, x.Step)+x.Label
		if len(x.Paths) == 1 && edits[x.Paths[0]]+reads[x.Paths[0]] > 0 {
			path, key = x.Paths[0], x.Paths[0]
		}
		from := sources[key]
		if from == nil {
			from = &source{item: c.contentItem(x, path, edits[path], reads[path])}
			sources[key] = from
		}
		c.content(i, from)
	}
}

// undone reports that a passage is an edit that failed or that the user refused:
// what it would have written is in no file.
func (c *collector) undone(x archive.Passage) bool {
	if x.Kind != archive.KindEdit || len(x.Paths) != 1 {
		return false
	}
	from, _ := slices.BinarySearchFunc(c.past.calls, place{x.Turn, x.Step}, func(call archive.Call, p place) int {
		return cmp.Or(call.Turn-p.turn, call.Step-p.step)
	})
	failed := false
	for _, call := range c.past.calls[from:] {
		if call.Turn != x.Turn || call.Step != x.Step {
			break
		}
		if call.Kind == archive.CallEdit && slices.Contains(call.Files, x.Paths[0]) {
			if !call.Failed {
				return false // which of several edits it is does not show
			}
			failed = true
		}
	}
	return failed
}

// content adds the lines of a passage to its source.
func (c *collector) content(passage int, from *source) {
	x, at := c.past.passages[passage], c.found.first(passage)
	h, prior := c.handle(x.Turn, x.Step), 0.0
	if x.Kind == archive.KindEdit {
		prior = 0.12 * ago(c.age(x.Turn, x.Step), 30)
	}
	var removed []string
	written := map[string]bool{}
	contentLines(x, func(raw string, line int, old bool) {
		l := c.tell(raw, at+line)
		s := l.text
		switch {
		case s == "" || x.Kind == archive.KindOutput && handsBack(x.Label, s):
		case old:
			removed = append(removed, s)
		default:
			p := prior
			if declares(s) {
				p += 0.12
			}
			if x.Kind == archive.KindEdit {
				written[s] = true
			}
			if !from.gone[s] {
				c.join(from.item, l, h, p, 1)
			} else {
				c.flush()
			}
		}
	})
	c.flush()
	for _, s := range removed {
		if written[s] {
			continue
		}
		if from.gone == nil {
			from.gone = map[string]bool{}
		}
		from.gone[s] = true
	}
}

// contentLines calls fn with the lines of an edit, old text first, or of what a
// tool put out, and with their numbers in the passage. The first line, number 0,
// names the tool and what it was asked.
func contentLines(x archive.Passage, fn func(raw string, line int, old bool)) {
	old, line := false, 0
	for raw := range strings.SplitSeq(x.Text, "\n") {
		switch {
		case line == 0:
		case x.Kind != archive.KindEdit:
			fn(raw, line, false)
		case raw == "--- old":
			old = true
		case raw == "+++ new":
			old = false
		default:
			fn(raw, line, old)
		}
		line++
	}
}

func (c *collector) contentItem(x archive.Passage, path string, edits, reads int) *item {
	age := c.age(x.Turn, x.Step)
	it := item{section: secSeen, order: age, handle: c.handle(x.Turn, x.Step), introduces: true}
	switch {
	case path == "":
		asked, _, _ := strings.Cut(x.Text, "\n")
		it.head = "answer to " + text.Truncate(oneLine(c.short(asked)), 160)
	case edits > 0:
		it.section = secFiles
		it.prior = 0.4 + 1.2*ago(age, 30)
		it.head = c.short(oneLine(path)) + ", changed here " + plural(edits, "times")
	default:
		it.head = "from the file " + c.short(oneLine(path)) + ", read " + plural(max(1, reads), "times")
	}
	return c.add(it)
}
