package compact

import (
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/brief"
)

// gather collects all items.
func (c *collector) gather() []*item {
	c.prompts()
	c.tasks()
	c.stood()
	c.lately()
	c.failures()
	c.files()
	c.replies()
	c.commands()
	c.recap()
	return c.items
}

// prompts adds the last and the first request, whole as far as there is room,
// and those between by worth.
func (c *collector) prompts() {
	if text := strings.TrimSpace(clean(c.req.Instructions)); text != "" {
		c.add(item{section: secAsked, order: -1, must: true, head: "With this /compact: " + brief.Cut(text, max(c.req.Budget/4, 160))})
	}
	turns := c.promptTexts()
	for i, t := range turns {
		last, first := i == len(turns)-1, i == 0
		text := dense(clean(t.text))
		if text == "" {
			continue
		}
		it := item{section: secAsked, handle: c.handle(t.turn, -1), order: len(turns) - i + 2}
		limit, label := 320, ""
		switch {
		case last:
			limit, it.order, it.must, it.prior, label = max(c.req.Budget/4, 160), 0, true, 6, "Last: "
		case first:
			limit, it.order, it.prior, label = max(c.req.Budget/12, 120), 1, 4, "First: "
		default:
			it.prior = 0.6 + 2*ago(len(turns)-i, 4)
			if states(text) {
				it.prior += 0.8
			}
		}
		text, rest := clip(text, limit)
		it.head = label + text
		c.rest(c.add(it), rest, it.prior/40)
	}
}

// rest adds the sentences of a text that was clipped.
func (c *collector) rest(it *item, text string, prior float64) {
	sentences(text, func(s string) { c.addLine(it, s, it.handle, prior, minWords) })
}

type promptText struct {
	turn int
	text string
}

func (c *collector) promptTexts() []promptText {
	var out []promptText
	for _, x := range c.past.prompts {
		if n := len(out); n > 0 && out[n-1].turn == x.Turn {
			out[n-1].text += "\n" + x.Text
			continue
		}
		out = append(out, promptText{x.Turn, x.Text})
	}
	return out
}

func (c *collector) tasks() {
	for i, t := range c.past.tasks {
		if !t.open() || t.subject == "" {
			continue
		}
		it := item{section: secTasks, order: i, handle: c.handle(t.turn, t.step), prior: 2}
		if t.status == "in_progress" {
			it.prior = 4
		}
		it.head = t.line()
		c.add(it)
	}
}

// stood adds what was said last and what was done last.
func (c *collector) stood() {
	n := 0
	for i := len(c.past.passages) - 1; i >= 0 && n < 2; i-- {
		x := c.past.passages[i]
		if x.Kind != archive.KindReply || x.Label == "thinking" {
			continue
		}
		it := item{section: secStood, order: n, handle: c.handle(x.Turn, x.Step), prior: 5 - 2*float64(n), must: n == 0}
		if c.past.known != "" { // a summary tells where the work stood
			it.prior, it.must = it.prior*knownShare*knownShare, false
		}
		text, rest := clip(dense(clean(c.short(x.Text))), max(c.req.Budget/16, 100))
		it.head = "Said: " + text
		c.rest(c.add(it), rest, 0.1)
		c.said[x.Text] = true
		n++
	}
	if n := len(c.past.calls); n > 0 {
		x := c.past.calls[n-1]
		if act := c.act(x); act != "" && !(x.Failed && x.Kind == archive.CallCommand) { // that is an open error
			c.add(item{section: secStood, order: 10, handle: c.handle(x.Turn, x.Step), head: "Last done: " + act, prior: 2})
		}
	}
}

// lately lists the files that were used last, changed ones aside: those have
// entries of their own.
func (c *collector) lately() {
	edited, seen := map[string]bool{}, map[string]bool{}
	for _, x := range c.past.calls {
		if x.Kind == archive.CallEdit {
			for _, f := range x.Files {
				edited[f] = true
			}
		}
	}
	var it *item
	for i := len(c.past.calls) - 1; i >= 0; i-- {
		x := c.past.calls[i]
		if x.Kind != archive.CallRead {
			continue
		}
		for _, f := range x.Files {
			if seen[f] || edited[f] {
				continue
			}
			seen[f] = true
			if it == nil {
				it = c.add(item{section: secStood, order: 30, handle: c.handle(x.Turn, x.Step), head: "Other files read, newest first", inline: true, introduces: true})
			}
			c.addLine(it, c.short(oneLine(f)), c.handle(x.Turn, x.Step), 0.2*ago(c.age(x.Turn, x.Step), 20), 0)
		}
	}
}

// act says in a few words what a call did and how it ended.
func (c *collector) act(x archive.Call) string {
	switch x.Kind {
	case archive.CallCommand:
		return "ran `" + brief.Cut(oneLine(c.short(x.Command)), 160) + "`" + outcome(x)
	case archive.CallEdit, archive.CallRead:
		if len(x.Files) == 0 {
			return ""
		}
		verb := "read"
		if x.Kind == archive.CallEdit {
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
	case x.Failed && x.Error != "":
		return fmt.Sprintf(", failed%s: %s", exitCode(x), brief.Cut(oneLine(x.Error), maxLineUnits))
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
// of the same command or on the same file, newest first, one per subject.
func (c *collector) openFailures() []archive.Call {
	var out []archive.Call
	settled := map[string]bool{}
	for _, x := range slices.Backward(c.past.calls) {
		key := subject(x)
		if key == "" || x.LineResult < 0 || settled[key] {
			continue
		}
		settled[key] = true
		if x.Failed {
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

// subject is what a call was about, to match a failure with its cure: the file,
// or the command up to its options.
func subject(x archive.Call) string {
	if x.Kind != archive.CallCommand {
		if len(x.Files) > 0 {
			return string(x.Kind) + " " + x.Files[0]
		}
		return ""
	}
	return commandKey(x.Command)
}

// commandKey names a command without what changes from run to run: folder
// changes, redirections, pipes into pagers.
func commandKey(cmd string) string {
	if at := strings.IndexByte(cmd, '\n'); at >= 0 {
		cmd = cmd[:at]
	}
	for strings.HasPrefix(cmd, "cd ") {
		_, rest, ok := strings.Cut(cmd, "&&")
		if !ok {
			break
		}
		cmd = strings.TrimSpace(rest)
	}
	for _, end := range []string{" 2>&1", " | ", " > ", "; echo", " && echo"} {
		if at := strings.Index(cmd, end); at > 0 {
			cmd = cmd[:at]
		}
	}
	return strings.Join(strings.Fields(cmd), " ")
}

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
		c.addLine(it, s, h, p, minWords)
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

// replies adds sentences of the model's own words, those with reasons first.
func (c *collector) replies() {
	for i := len(c.past.passages) - 1; i >= 0; i-- {
		x := c.past.passages[i]
		if x.Kind != archive.KindReply || c.said[x.Text] {
			continue
		}
		age := c.age(x.Turn, x.Step)
		it := &item{section: secReasons, order: age, handle: c.handle(x.Turn, x.Step), inline: true}
		it.units = brief.Units("- []") + brief.Units(it.handle)
		w := ago(age, 30)
		if x.Label == "thinking" {
			w *= 0.7
		}
		sentences(c.short(x.Text), func(s string) {
			l := c.addLine(it, s, it.handle, 0.1*w, minWords)
			switch {
			case l == nil:
			case reasoned(s):
				l.prior += 0.9 * w
			case narrates(s):
				l.share = 0.5
			}
		})
		if len(it.lines) > 0 {
			c.items = append(c.items, it)
		}
	}
}

// commands adds each command with its outcome and the lines of its output. The
// last run of a command counts; a failure that was cured since is left out, and
// one that was not stands among the errors.
func (c *collector) commands() {
	seen := map[string]bool{}
	outputs := map[place][]archive.Passage{}
	for _, x := range c.past.passages {
		if x.Kind == archive.KindCommand {
			outputs[place{x.Turn, x.Step}] = append(outputs[place{x.Turn, x.Step}], x)
		}
	}
	for _, x := range slices.Backward(c.past.calls) {
		if x.Kind != archive.CallCommand {
			continue
		}
		key := commandKey(x.Command)
		age := c.age(x.Turn, x.Step)
		it := c.failed[place{x.Turn, x.Step}]
		switch {
		case it != nil:
		case x.Failed && seen[key]:
			continue
		default:
			n := item{section: secCommands, order: age, handle: c.handle(x.Turn, x.Step), head: c.act(x)}
			if !seen[key] {
				n.prior = 0.3 * ago(age, 20)
				if checks(key) {
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

// output adds the lines that a command put out.
func (c *collector) output(it *item, x archive.Call, o archive.Passage) {
	if !strings.HasPrefix(o.Text, "$ "+head(x.Command, 80)) {
		return
	}
	_, text, _ := strings.Cut(o.Text, "\n")
	for raw := range strings.SplitSeq(c.short(text), "\n") {
		if s := tidy(raw); s != "" && s != x.Error && !strings.HasPrefix(s, "[exit ") && !strings.HasPrefix(s, "# ") {
			c.addLine(it, s, it.handle, 0, minWords)
		}
	}
}

func head(s string, n int) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > n {
		s = s[:n]
	}
	return s
}

// recap adds the lines of a summary that went down with the context.
func (c *collector) recap() {
	for i, x := range c.past.recap {
		it := c.add(item{section: secRecap, order: i, handle: c.handle(x.Turn, x.Step), head: "The client's own summary said", introduces: true})
		sentences(c.short(x.Text), func(s string) { c.addLine(it, s, it.handle, 0.1, minWords) })
	}
}

// inOrder sorts items as they are printed.
func inOrder(items []*item) []*item {
	out := slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return !it.taken })
	slices.SortStableFunc(out, func(a, b *item) int {
		if a.section != b.section {
			return a.section - b.section
		}
		return a.order - b.order
	})
	return out
}
