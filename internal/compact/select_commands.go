package compact

import (
	"slices"
	"strings"
	"sync"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// abandoned is the age from which a failed command that checks nothing counts as
// worked around: nobody ran it again.
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
	outputs := map[place][]int{}
	for i := range c.past.passages {
		if x := &c.past.passages[i]; x.Kind == archive.KindCommand {
			outputs[place{x.Turn, x.Step}] = append(outputs[place{x.Turn, x.Step}], i)
		}
	}
	seen := map[string]bool{}
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
			e.section, e.prior, e.required = secErrors, 9*decay(age, 20), age < recentError && !seen["error"]
			if !archive.IsCheck(key) && age > abandoned {
				e.prior, e.required = 2*decay(age, 20), false
			}
			seen["error"] = true
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
		if x.Failed && !x.NotRun() && c.editedSince(x) {
			e.head += " (before the last edits, not run since)"
		}
		n := c.add(e)
		for _, o := range outputs[at] {
			c.addOutput(n, x, &c.past.passages[o])
		}
	}
}

// editedSince reports whether a file was changed after a call.
func (c *collector) editedSince(x archive.Call) bool {
	for _, y := range slices.Backward(c.past.calls) {
		if y.Turn == x.Turn && y.Step == x.Step {
			return false
		}
		if y.Kind == archive.CallEdit && !y.Failed {
			return true
		}
	}
	return false
}

// addOutput adds the output of a command from its passage.
func (c *collector) addOutput(e *entry, x archive.Call, o *archive.Passage) {
	command, _, _ := strings.Cut(x.Command, "\n")
	if !strings.HasPrefix(o.Text, "$ "+command[:min(len(command), 80)]) {
		return
	}
	_, body, _ := strings.Cut(o.Text, "\n")
	age := c.age(x.Turn, x.Step)
	var failing []string
	if x.Failed || archive.IsCheck(archive.CommandKey(x.Command)) {
		for line := range strings.SplitSeq(body, "\n") {
			line = strings.TrimSpace(line)
			if failsCheck(line) && !slices.Contains(failing, line) && !strings.Contains(e.head, text.CleanLine(line)) {
				failing = append(failing, line)
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
