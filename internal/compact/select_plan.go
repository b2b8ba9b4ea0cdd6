package compact

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// finishedFactor lowers the statements of the plan about completed tasks.
const finishedFactor = 0.25

// addPlan adds the plan of the work.
func (c *collector) addPlan() {
	p := c.past.plan
	if p == nil {
		return
	}
	head, body, _ := strings.Cut(p.Text, "\n")
	h, age := c.handle(p.Turn, p.Step), c.age(p.Turn, p.Step)
	e := c.addResult(head, h, age)
	statements(c.short(body), nil, func(s statement) {
		d := aged(densityPlan, age)
		if s.finding {
			d *= findingFactor
		}
		if slices.ContainsFunc(c.past.tasks, func(t task) bool { return t.status == "completed" && isAbout(s.heading, t.subject) }) {
			d *= finishedFactor
		}
		c.addPiece(e, s.text, h, d, 1)
	})
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
	body = strings.TrimSpace(c.short(body))
	title, _, _ := strings.Cut(body, "\n")
	title, ok := strings.CutPrefix(title, "# ")
	if !ok {
		return
	}
	e := c.add(entry{section: secState, order: 1, handle: c.handle(p.Turn, p.Step), prior: 20, required: true,
		head: "Goal, from " + c.short(text.CleanLine(p.Paths[0])) + ": " + text.Truncate(text.TrimMarkdown(text.CleanLine(title)), maxStatement)})
	d := densityMessage
	statements(body, nil, func(s statement) {
		if len(e.lines) < maxGoal {
			c.addPiece(e, s.text, e.handle, d, 1)
			d /= 2
		}
	})
}

// guide is a statement of the plan or of a slash command's expansion, at a place.
type guide struct {
	statement
	handle string
}

// guides returns the statements that say how the work is to be done.
func (c *collector) guides() []guide {
	var out []guide
	add := func(body, handle string) {
		statements(c.short(body), nil, func(s statement) {
			if s.heading != "" {
				out = append(out, guide{s, handle})
			}
		})
	}
	if p := c.past.plan; p != nil {
		_, body, _ := strings.Cut(p.Text, "\n")
		add(body, c.handle(p.Turn, p.Step))
	}
	for _, x := range c.past.prompts {
		if body := c.past.expansions[x.Turn]; body != "" {
			add(body, c.handle(x.Turn, -1))
		}
	}
	return out
}

// addGuides adds the guides' statements about an open task below it. Each statement counts
// half of the one before it, so that the first ones of each task are there.
func (c *collector) addGuides(e *entry, t task, guides []guide, changed []changedFile) {
	d := densityTask
	if t.status != "in_progress" {
		d /= 2
	}
	for _, g := range guides {
		if isAbout(g.heading, t.subject) {
			c.addPiece(e, markChanged(g.text, changed), g.handle, d, 1)
			d /= 2
		}
	}
}

// changedFile is the base name of a file that the session changed, and where it did last.
type changedFile struct{ base, handle string }

// changedFiles returns the files that the session changed, the last one first.
func (c *collector) changedFiles() (all []changedFile) {
	seen := map[string]bool{}
	for _, x := range slices.Backward(c.past.calls) {
		if x.Kind != archive.CallEdit || x.Failed || len(x.Files) == 0 {
			continue
		}
		if base := path.Base(x.Files[0]); !seen[base] {
			seen[base] = true
			all = append(all, changedFile{base, c.local(c.handle(x.Turn, x.Step))})
		}
	}
	return all
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

// isAbout reports whether a heading names the subject of a task: they have the same
// number and a word in common, or without numbers most words of the shorter one, at least two.
func isAbout(heading, subject string) bool {
	number, words := titleWords(heading)
	other, wanted := titleWords(subject)
	shared := 0
	for w := range words {
		if wanted[w] {
			shared++
		}
	}
	if number != "" && other != "" {
		return number == other && shared > 0
	}
	return shared >= 2 && 3*shared >= 2*min(len(words), len(wanted))
}

// titleWords returns the first number and the words of a title, in lower case, without
// the plural's s.
func titleWords(s string) (number string, words map[string]bool) {
	words = map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		switch {
		case strings.Trim(w, "0123456789") == "":
			if number == "" {
				number = w
			}
		case w != "phase" && w != "step" && w != "and" && w != "the" && w != "any":
			words[strings.TrimSuffix(w, "s")] = true
		}
	}
	return number, words
}
