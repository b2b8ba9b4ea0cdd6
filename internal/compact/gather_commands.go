package compact

import (
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// act says in a few words what a call did and how it ended.
func (c *collector) act(x archive.Call) string {
	switch x.Kind {
	case archive.CallCommand:
		verb := "ran"
		if x.Unrun() {
			verb = "meant to run"
		}
		return verb + " `" + text.Truncate(oneLine(c.short(x.Command)), 160) + "`" + outcome(x)
	case archive.CallEdit, archive.CallRead:
		if len(x.Files) == 0 {
			return ""
		}
		verb := "read"
		switch {
		case x.Kind == archive.CallEdit && x.Failed:
			verb = "tried to change"
		case x.Kind == archive.CallEdit:
			verb = "changed"
		}
		return verb + " the file " + c.short(oneLine(x.Files[0])) + outcome(x)
	}
	return ""
}

func outcome(x archive.Call) string {
	switch {
	case x.LineResult < 0:
		return ", no result yet"
	case x.Unrun():
		return ", " + text.Truncate(oneLine(x.Error), maxLineUnits)
	case x.Failed && x.Error != "":
		return fmt.Sprintf(", failed%s: %s", exitCode(x), text.Truncate(oneLine(x.Error), maxLineUnits))
	case x.Failed:
		return ", failed" + exitCode(x)
	case x.Exit != nil:
		return fmt.Sprintf(", exit %d", *x.Exit)
	}
	return ""
}

func exitCode(x archive.Call) string {
	if x.Exit == nil {
		return ""
	}
	return fmt.Sprintf(" (exit %d)", *x.Exit)
}

// openFailures returns the calls that failed and were not followed by a success
// of the same command or on the same file, newest first, one per subject. A call
// that was never run has no error to cure, and neither has a look at a file
// unless it was just now: the model looked elsewhere.
func (c *collector) openFailures() []archive.Call {
	var out []archive.Call
	settled := map[string]bool{}
	for i, x := range slices.Backward(c.past.calls) {
		key := archive.Subject(x)
		if key == "" || x.LineResult < 0 || settled[key] || x.Unrun() {
			continue
		}
		settled[key] = true
		if x.Failed && (x.Kind != archive.CallRead || len(c.past.calls)-i <= freshRead) {
			out = append(out, x)
		}
	}
	return out
}

// failures adds errors that are still open.
func (c *collector) failures() {
	for i, x := range c.openFailures() {
		act := c.act(x)
		if act == "" {
			continue
		}
		age := c.age(x.Turn, x.Step)
		it := c.add(item{
			section: secErrors, order: age, handle: c.handle(x.Turn, x.Step), head: act,
			prior: 3.5 * ago(age, 20), must: i == 0 && age < freshError,
		})
		c.failed[place{x.Turn, x.Step}] = it
		c.cause(it, x)
	}
}

// freshRead is among how many last calls a read that failed still matters.
const freshRead = 3

// freshError is how many moments ago the newest open error may have been to
// stand in the block whatever its worth.
const freshError = 20

// cause adds what the model said next about a failure.
func (c *collector) cause(it *item, x archive.Call) {
	for _, y := range c.past.passages {
		after := place{y.Turn, y.Step}
		if y.Turn != x.Turn || y.Step <= x.Step || y.Step > x.Step+1 || y.Kind != archive.KindReply {
			continue
		}
		sentences(c.short(y.Text), func(s string) {
			if reasoned(s) && !narrates(s) {
				c.addLine(it, s, c.handle(after.turn, after.step), 0.5*ago(c.age(x.Turn, x.Step), 20), minWords)
			}
		})
	}
}

// commands adds each command with its outcome and the lines of its output. The
// last run of a command counts; a failure that was cured since is left out, and
// one that was not stands among the errors.
func (c *collector) commands() {
	seen := map[string]bool{}
	outputs := map[place][]int{}
	for i := range c.past.passages {
		if x := &c.past.passages[i]; x.Kind == archive.KindCommand {
			outputs[place{x.Turn, x.Step}] = append(outputs[place{x.Turn, x.Step}], i)
		}
	}
	for _, x := range slices.Backward(c.past.calls) {
		if x.Kind != archive.CallCommand || x.Error == archive.ErrorDropped {
			continue
		}
		key := archive.CommandKey(x.Command)
		age := c.age(x.Turn, x.Step)
		it := c.failed[place{x.Turn, x.Step}]
		switch {
		case it != nil:
		case x.Unrun(): // what the user refuses is a preference
			c.add(item{section: secCommands, order: age, handle: c.handle(x.Turn, x.Step), head: c.act(x), prior: 3 * ago(age, 20)})
			continue
		case x.Failed && seen[key]:
			continue
		default:
			n := item{section: secCommands, order: age, handle: c.handle(x.Turn, x.Step), head: c.act(x)}
			if !seen[key] {
				n.prior = 0.3 * ago(age, 20)
				if archive.Checks(key) {
					n.prior = 1.2 * ago(age, 20)
				}
			}
			it = c.add(n)
		}
		seen[key] = true
		for _, o := range outputs[place{x.Turn, x.Step}] {
			c.output(it, x, o)
		}
	}
}

// output adds the lines that a command put out, which a passage holds.
func (c *collector) output(it *item, x archive.Call, passage int) {
	o, at := &c.past.passages[passage], c.found.first(passage)-1
	if !strings.HasPrefix(o.Text, "$ "+head(x.Command, 80)) {
		return
	}
	for raw := range strings.SplitSeq(o.Text, "\n") {
		if at++; at == c.found.first(passage) {
			continue // the command itself
		}
		l := c.tell(raw, at)
		s := l.text
		if s == "" || s == x.Error || strings.HasPrefix(s, "[exit ") || strings.HasPrefix(s, "# ") {
			continue
		}
		prior := 0.0
		if x.Failed && complains(s) {
			prior = 0.6 * ago(c.age(x.Turn, x.Step), 20)
		}
		share := 1.0
		if beginsWith(s, "ok ", "? ", "PASS", "--- PASS", "✓ ", "=== ") {
			share = bareShare // it says that all is well, as the exit code does
		}
		c.join(it, l, it.handle, prior, share)
	}
	c.flush()
}

func head(s string, n int) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > n {
		s = s[:n]
	}
	return s
}
