package compact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// finishedFactor lowers the statements of the plan about completed tasks.
const finishedFactor = 0.25

// guide is a statement of the plan or of a slash command's expansion, at a place.
type guide struct {
	statement
	title  title // of the heading
	handle string
}

// readPlan returns the statements of the plan.
func (v *view) readPlan() []guide {
	p := v.past.plan
	if p == nil {
		return nil
	}
	_, body, _ := strings.Cut(p.Text, "\n")
	return v.readGuides(nil, body, v.handle(p.Turn, p.Step))
}

func (v *view) readGuides(all []guide, body, handle string) []guide {
	statements(v.short(body), nil, func(s statement) { all = append(all, guide{s, newTitle(s.heading), handle}) })
	return all
}

// addPlan adds the plan of the work.
func (c *collector) addPlan() {
	p := c.past.plan
	if p == nil {
		return
	}
	var completed []title
	for _, t := range c.past.tasks {
		if t.status == "completed" {
			completed = append(completed, newTitle(t.subject))
		}
	}
	head, _, _ := strings.Cut(p.Text, "\n")
	h, age := c.handle(p.Turn, p.Step), c.age(p.Turn, p.Step)
	e := c.addResult(head, h, age)
	for _, g := range c.plan {
		d := aged(densityPlan, age)
		if g.finding {
			d *= findingFactor
		}
		if slices.ContainsFunc(completed, g.title.isAbout) {
			d *= finishedFactor
		}
		c.addPiece(e, g.text, h, d, 1)
	}
}

func (c *collector) isThePlan(x archive.Passage) bool {
	p := c.past.plan
	return p != nil && x.Turn == p.Turn && x.Step == p.Step && x.Seq == p.Seq
}

// maxGoal is how many of the first statements of the plan are quoted as the goal.
const maxGoal = 2

// addGoal adds the title of the plan and its first statements: the purpose of the work.
func (c *collector) addGoal() {
	p := c.past.plan
	if p == nil {
		return
	}
	_, body, _ := strings.Cut(p.Text, "\n")
	heading, _, _ := strings.Cut(strings.TrimSpace(c.short(body)), "\n")
	heading, ok := strings.CutPrefix(heading, "# ")
	if !ok {
		return
	}
	e := c.add(entry{section: secState, order: 1, handle: c.handle(p.Turn, p.Step), prior: 20, required: true,
		head: "Goal, from " + c.short(text.CleanLine(p.Paths[0])) + ": " + text.Truncate(text.TrimMarkdown(text.CleanLine(heading)), maxStatement)})
	d := densityMessage
	for _, g := range c.plan {
		if len(e.lines) == maxGoal {
			return
		}
		c.addPiece(e, g.text, e.handle, d, 1)
		d /= 2
	}
}

// guides returns the statements that say how the work is to be done.
func (c *collector) guides() []guide {
	all := slices.Clip(c.plan)
	for _, x := range c.past.prompts {
		if body := c.past.expansions[x.Turn]; body != "" {
			all = c.readGuides(all, body, c.handle(x.Turn, -1))
		}
	}
	return all
}

// addGuides adds the guides' statements about an open task below it. Each statement counts
// half of the one before it, so that the first ones of each task are there.
func (c *collector) addGuides(e *entry, t task, guides []guide, changed []changedFile) {
	d := densityTask
	if t.status != "in_progress" {
		d /= 2
	}
	subject := newTitle(t.subject)
	for _, g := range guides {
		if g.title.isAbout(subject) {
			c.addPiece(e, markChanged(g.text, changed), g.handle, d, 1)
			d /= 2
		}
	}
}

// markChanged adds to each line that names a changed file where it was changed: that part
// of the task was begun at least.
func markChanged(body string, changed []changedFile) string {
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		if at := slices.IndexFunc(changed, func(f changedFile) bool { return namesFile(line, f.base) }); at >= 0 {
			lines[i] += " (changed at [" + changed[at].handle + "])"
		}
	}
	return strings.Join(lines, "\n")
}

// namesFile reports whether a line has the base name of a file, not as the end of a longer
// name.
func namesFile(line, base string) bool {
	before, _, found := strings.Cut(line, base)
	last, _ := utf8.DecodeLastRuneInString(before)
	return found && !unicode.IsLetter(last) && !unicode.IsDigit(last) && !strings.ContainsRune("-_.", last)
}

// title is a heading or the subject of a task: its first number and its words, in lower
// case, without the plural's s.
type title struct {
	number string
	words  map[string]bool
}

func newTitle(s string) title {
	t := title{words: map[string]bool{}}
	for w := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		switch {
		case strings.Trim(w, "0123456789") == "":
			if t.number == "" {
				t.number = w
			}
		case w != "phase" && w != "step" && w != "and" && w != "the" && w != "any":
			t.words[strings.TrimSuffix(w, "s")] = true
		}
	}
	return t
}

// isAbout reports whether two titles name one task: they have the same number and a word
// in common, or without numbers most words of the shorter one, at least two.
func (t title) isAbout(u title) bool {
	shared := 0
	for w := range t.words {
		if u.words[w] {
			shared++
		}
	}
	if t.number != "" && u.number != "" {
		return t.number == u.number && shared > 0
	}
	return shared >= 2 && 3*shared >= 2*min(len(t.words), len(u.words))
}
