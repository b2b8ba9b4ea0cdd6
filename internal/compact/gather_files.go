package compact

import (
	"strings"

	"strandline/internal/archive"
	"strandline/internal/brief"
)

// files adds one item per changed file and one per file read, with the lines of
// what was written and seen.
func (c *collector) files() {
	edits, reads := map[string]int{}, map[string]int{}
	for _, x := range c.past.calls {
		for _, f := range x.Files {
			switch x.Kind {
			case archive.CallEdit:
				edits[f]++
			case archive.CallRead:
				reads[f]++
			}
		}
	}
	byFile := map[string]*item{}
	for i := len(c.past.passages) - 1; i >= 0; i-- {
		x := c.past.passages[i]
		if x.Kind != archive.KindEdit && x.Kind != archive.KindOutput {
			continue
		}
		c.content(x, edits, reads, byFile)
	}
}

func (c *collector) content(x archive.Passage, edits, reads map[string]int, byFile map[string]*item) {
	age := c.age(x.Turn, x.Step)
	h := c.handle(x.Turn, x.Step)
	path, key := "", h+x.Label
	if len(x.Paths) == 1 && edits[x.Paths[0]]+reads[x.Paths[0]] > 0 {
		path, key = x.Paths[0], x.Paths[0]
	}
	it := byFile[key]
	if it == nil {
		it = c.contentItem(x, path, edits[path], reads[path], age)
		byFile[key] = it
	}
	prior := 0.0
	if x.Kind == archive.KindEdit {
		prior = 0.12 * ago(age, 30)
	}
	contentLines(x, func(raw string) {
		s := tidy(c.short(raw))
		if s == "" {
			return
		}
		p := prior
		if declares(s) {
			p += 0.12
		}
		c.addLine(it, s, h, p, 0)
	})
}

// contentLines calls fn with the lines of an edit's new text, or of what a tool
// put out. The first line of such a passage names the tool and what it was asked.
func contentLines(x archive.Passage, fn func(raw string)) {
	_, text, _ := strings.Cut(x.Text, "\n")
	old := false
	for raw := range strings.SplitSeq(text, "\n") {
		switch {
		case x.Kind != archive.KindEdit:
			fn(raw)
		case raw == "--- old":
			old = true
		case raw == "+++ new":
			old = false
		case !old:
			fn(raw)
		}
	}
}

func (c *collector) contentItem(x archive.Passage, path string, edits, reads, age int) *item {
	it := item{section: secSeen, order: age, handle: c.handle(x.Turn, x.Step), introduces: true}
	switch {
	case path == "":
		asked, _, _ := strings.Cut(x.Text, "\n")
		it.head = "answer to " + brief.Cut(oneLine(c.short(asked)), 160)
	case edits > 0:
		it.section = secFiles
		it.prior = 0.4 + 1.2*ago(age, 30)
		it.head = c.short(oneLine(path)) + ", changed here " + plural(edits, "times")
	default:
		it.head = "from the file " + c.short(oneLine(path)) + ", read " + plural(max(1, reads), "times")
	}
	return c.add(it)
}
