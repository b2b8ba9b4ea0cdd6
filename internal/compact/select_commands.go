package compact

import (
	"math"
	"slices"
	"strings"
	"sync"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// abandoned is the age from which a failed command that checks nothing counts as
// worked around: it was not run again.
const abandoned = 4

// recentError is the age up to which the newest open error is required.
const recentError = 20

// collectCommands adds the open errors, and the commands with their outcome and
// output. The last run of a command counts most.
func collectCommands(c *collector) {
	failed := map[place]bool{}
	for _, x := range c.past.openFailures() {
		failed[place{x.Turn, x.Step}] = true
	}
	edited, seen, anyOpen := c.lastEdit(), map[string]bool{}, false
	for _, x := range slices.Backward(c.past.calls) {
		at := place{x.Turn, x.Step}
		open := failed[at] && x.Failed && !x.NotRun() && archive.Subject(x) != ""
		if x.Error == archive.ErrorDropped || x.Kind != archive.CallCommand && !open {
			continue
		}
		what := c.describe(x)
		if what == "" {
			continue
		}
		key, age := archive.CommandKey(x.Command), c.age(x.Turn, x.Step)
		e := entry{section: secCommands, order: age, handle: c.handle(x.Turn, x.Step), head: what}
		switch {
		case open:
			e.section, e.prior, e.required = secErrors, 9*decay(age, 20), age < recentError && !anyOpen
			if !archive.IsCheck(key) && age > abandoned {
				e.prior, e.required = 2*decay(age, 20), false
			}
			anyOpen = true
		case x.NotRun(): // a refusal is a preference of the user
			e.prior = 9 * decay(age, 40)
		case x.Failed && seen[key]:
			continue
		case seen[key]:
		case archive.IsCheck(key):
			e.prior = 5 * decay(age, 20)
		default:
			e.prior = 2 * decay(age, 20)
		}
		seen[key] = true
		if x.Failed && !x.NotRun() && edited.compare(at) > 0 {
			e.head += " (before the last edits, not run since)"
		}
		n := c.add(e)
		for _, o := range c.past.passagesAt(at) {
			if isOutputOf(o, x) {
				c.addOutput(n, x, o)
			}
		}
	}
}

// lastEdit returns the place of the last successful edit, before any other if there is
// none.
func (c *collector) lastEdit() place {
	for i := len(c.past.calls) - 1; i >= 0; i-- {
		if x := &c.past.calls[i]; x.Kind == archive.CallEdit && !x.Failed {
			return place{x.Turn, x.Step}
		}
	}
	return place{math.MinInt32, 0}
}

// addOutput adds the output of a command from its passage.
func (c *collector) addOutput(e *entry, x archive.Call, o archive.Passage) {
	_, body, _ := strings.Cut(o.Text, "\n")
	age := c.age(x.Turn, x.Step)
	var failing []string
	listed := map[string]bool{}
	if x.Failed || archive.IsCheck(archive.CommandKey(x.Command)) {
		for line := range strings.SplitSeq(body, "\n") {
			line = strings.TrimSpace(line)
			if failsCheck(line) && !listed[line] && !strings.Contains(e.head, text.CleanLine(line)) {
				failing, listed[line] = append(failing, line), true
			}
		}
		c.addCode(e, strings.Join(failing, "\n"), e.handle, func(string) float64 { return densityFailure * decay(age, 30) })
	}
	c.addCode(e, body, e.handle, func(line string) float64 {
		if line == x.Error || text.HasAnyPrefix(line, "[exit ", "# ") || len(failing) > 0 && failsCheck(line) {
			return -1
		}
		return 0
	})
}

// failsCheck reports whether a line of a check's output names a failure.
func failsCheck(line string) bool {
	return failurePhrases().in(line)
}

var failurePhrases = sync.OnceValue(func() *phraseSet {
	return newPhraseSet("error", "fail", "failed", "failure", "fatal", "panic", "exception", "undefined", "cannot", "expected", "want", "got", "assert",
		"assertionerror", "warning", "mismatch", "missing", "denied", "not found", "no such")
})

// addCode adds lines of code or output to an entry, in pieces of adjoining lines.
// density returns the density of a line; below zero leaves it out.
func (c *collector) addCode(e *entry, body, handle string, density func(line string) float64) {
	var b strings.Builder
	units, best := 0, 0.0
	flush := func() {
		if units > 0 {
			c.addPiece(e, b.String(), handle, best, codeFactor)
		}
		b.Reset()
		units, best = 0, 0
	}
	for raw := range strings.SplitSeq(body, "\n") {
		line := printable(c.short(raw))
		if line == "" {
			continue
		}
		d := density(line)
		if d < 0 {
			continue
		}
		n := text.Units(line) + 1
		if units > 0 && units+n > maxStatement {
			flush()
		}
		if units > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line)
		units += n
		best = max(best, d)
	}
	flush()
}

// codeFactor is the factor of the terms of code and output.
const codeFactor = 0.5
