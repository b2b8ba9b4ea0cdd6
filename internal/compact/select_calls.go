package compact

import (
	"cmp"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// recentError is the age up to which the newest open error is required.
const recentError = 20

// collectFailures adds the open errors and returns their entries by place.
func collectFailures(c *collector) map[place]*entry {
	failed := map[place]*entry{}
	for i, x := range c.openFailures() {
		what := c.describe(x)
		if what == "" {
			continue
		}
		age := c.age(x.Turn, x.Step)
		e := c.add(entry{
			section: secErrors, order: age, handle: c.handle(x.Turn, x.Step), head: what,
			prior: 3.5 * decay(age, 20), required: i == 0 && age < recentError,
		})
		failed[place{x.Turn, x.Step}] = e
		addCause(c, e, x)
	}
	return failed
}

// addCause adds the model's explanation of a failure from the next step.
func addCause(c *collector, e *entry, x archive.Call) {
	for _, y := range c.past.passages {
		if y.Turn != x.Turn || y.Step != x.Step+1 || y.Kind != archive.KindReply {
			continue
		}
		sentences(c.short(y.Text), func(s string) {
			if givesReason(s) && !isAnnouncement(s) {
				c.addLine(e, s, c.handle(y.Turn, y.Step), 0.5*decay(c.age(x.Turn, x.Step), 20), minWords)
			}
		})
	}
}

// collectCommands adds the commands with their outcome and output. The last run of
// a command counts most. A failure that was fixed since is omitted; an open one
// gets its output below its entry among the errors.
func collectCommands(c *collector, failed map[place]*entry) {
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
		key, age := archive.CommandKey(x.Command), c.age(x.Turn, x.Step)
		e := failed[place{x.Turn, x.Step}]
		if e == nil {
			if x.Failed && !x.NotRun() && seen[key] {
				continue
			}
			n := entry{section: secCommands, order: age, handle: c.handle(x.Turn, x.Step), head: c.describe(x)}
			switch {
			case x.NotRun(): // a refusal is a preference of the user
				n.prior = 3 * decay(age, 20)
				c.add(n)
				continue
			case seen[key]:
			case archive.IsCheck(key):
				n.prior = 1.2 * decay(age, 20)
			default:
				n.prior = 0.3 * decay(age, 20)
			}
			e = c.add(n)
		}
		seen[key] = true
		for _, o := range outputs[place{x.Turn, x.Step}] {
			addOutput(c, e, x, o)
		}
	}
}

// addOutput adds the output lines of a command from a passage.
func addOutput(c *collector, e *entry, x archive.Call, passage int) {
	o, first := &c.past.passages[passage], c.index.firstLine(passage)
	command, _, _ := strings.Cut(x.Command, "\n")
	if !strings.HasPrefix(o.Text, "$ "+command[:min(len(command), 80)]) {
		return
	}
	m := lineMerger{c: c}
	at := first - 1
	for raw := range strings.SplitSeq(o.Text, "\n") {
		if at++; at == first {
			continue // the command itself
		}
		l := c.scan(raw, at)
		if l.text == "" || l.text == x.Error || text.HasAnyPrefix(l.text, "[exit ", "# ") {
			continue
		}
		prior, factor := 0.0, 1.0
		if x.Failed && reportsError(l.text) {
			prior = 0.6 * decay(c.age(x.Turn, x.Step), 20)
		}
		if text.HasAnyPrefix(l.text, "ok ", "? ", "PASS", "--- PASS", "✓ ", "=== ") {
			factor = noWordsFactor // the exit code says the same
		}
		m.add(e, l, e.handle, prior, factor)
	}
	m.flush()
}

// lineSource is a file, or the result of one tool call, whose lines are collected.
type lineSource struct {
	entry   *entry
	removed map[string]bool // lines that a later edit removed, so that earlier reads are outdated
}

// collectFiles adds an entry for each file that was changed or read and for each
// other tool result, with the lines that were written and seen.
func collectFiles(c *collector) {
	edits, reads := c.editCounts(), map[string]int{}
	for _, x := range c.past.calls {
		if x.Kind == archive.CallRead {
			for _, f := range x.Files {
				reads[f]++
			}
		}
	}
	sources := map[string]*lineSource{}
	m := lineMerger{c: c}
	for i, x := range slices.Backward(c.past.passages) {
		if x.Kind != archive.KindEdit && x.Kind != archive.KindOutput || c.editFailed(x) {
			continue
		}
		path, key := "", c.handle(x.Turn, x.Step)+x.Label
		if len(x.Paths) == 1 && edits[x.Paths[0]]+reads[x.Paths[0]] > 0 {
			path, key = x.Paths[0], x.Paths[0]
		}
		src := sources[key]
		if src == nil {
			src = &lineSource{entry: addSource(c, x, path, edits[path], reads[path]), removed: map[string]bool{}}
			sources[key] = src
		}
		addContent(&m, i, src)
	}
}

// addSource adds the entry of a file, or of a tool result if path is "".
func addSource(c *collector, x archive.Passage, path string, edits, reads int) *entry {
	age := c.age(x.Turn, x.Step)
	e := entry{section: secReads, order: age, handle: c.handle(x.Turn, x.Step), source: true}
	switch {
	case path == "":
		call, _, _ := strings.Cut(x.Text, "\n")
		e.head = "result of " + text.Truncate(text.CleanLine(c.short(call)), 160)
	case edits > 0:
		e.section = secFiles
		e.prior = 0.4 + 1.2*decay(age, 30)
		e.head = c.short(text.CleanLine(path)) + ", changed " + times(edits)
	default:
		e.head = c.short(text.CleanLine(path)) + ", read " + times(max(1, reads))
	}
	return c.add(e)
}

// editFailed reports whether a passage is an edit that failed or was refused, so
// that no file holds its text. If several edits of a step changed the file it
// reports true only if all of them failed.
func (v *view) editFailed(x archive.Passage) bool {
	if x.Kind != archive.KindEdit || len(x.Paths) != 1 {
		return false
	}
	from, _ := slices.BinarySearchFunc(v.past.calls, place{x.Turn, x.Step}, func(call archive.Call, p place) int {
		return cmp.Or(call.Turn-p.turn, call.Step-p.step)
	})
	failed := false
	for _, call := range v.past.calls[from:] {
		if call.Turn != x.Turn || call.Step != x.Step {
			break
		}
		if call.Kind == archive.CallEdit && slices.Contains(call.Files, x.Paths[0]) {
			if !call.Failed {
				return false
			}
			failed = true
		}
	}
	return failed
}

// addContent adds the lines of an edit or output to its source.
func addContent(m *lineMerger, passage int, src *lineSource) {
	c := m.c
	x, first := c.past.passages[passage], c.index.firstLine(passage)
	h, prior := c.handle(x.Turn, x.Step), 0.0
	if x.Kind == archive.KindEdit {
		prior = 0.12 * decay(c.age(x.Turn, x.Step), 30)
	}
	var removed []string
	written := map[string]bool{}
	contentLines(x, func(raw string, n int, old bool) {
		l := c.scan(raw, first+n)
		switch {
		case l.text == "" || x.Kind == archive.KindOutput && isAgentMetadata(x.Label, l.text):
		case old:
			removed = append(removed, l.text)
		default:
			p := prior
			if isDeclaration(l.text) {
				p += 0.12
			}
			if x.Kind == archive.KindEdit {
				written[l.text] = true
			}
			if src.removed[l.text] {
				m.flush()
			} else {
				m.add(src.entry, l, h, p, 1)
			}
		}
	})
	m.flush()
	for _, s := range removed {
		if !written[s] {
			src.removed[s] = true
		}
	}
}

// contentLines calls fn with each line of an edit, the replaced text first, or of
// an output, and its number in the passage. It skips line 0, which names the tool
// and its arguments.
func contentLines(x archive.Passage, fn func(raw string, n int, old bool)) {
	old, n := false, 0
	for raw := range strings.SplitSeq(x.Text, "\n") {
		switch {
		case n == 0:
		case x.Kind != archive.KindEdit:
			fn(raw, n, false)
		case raw == "--- old":
			old = true
		case raw == "+++ new":
			old = false
		default:
			fn(raw, n, old)
		}
		n++
	}
}

// isAgentMetadata reports whether a line of a sub-agent's answer was added by the
// client: how to continue the agent, its usage, an assessment.
func isAgentMetadata(tool, line string) bool {
	return archive.IsAgentTool(tool) && text.HasAnyPrefix(line, "<tools-used-before-summary>", "[Subagent hand-back]",
		"agentId: ", "<usage>", "subagent_tokens: ", "total_tokens: ", "tool_uses: ", "duration_ms: ")
}
