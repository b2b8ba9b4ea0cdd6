package compact

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// collectTasks adds the open tasks, and the completed ones in one line.
func collectTasks(c *collector) {
	var done []string
	var last task
	guides := c.guides()
	changed, _ := c.changedFiles()
	for i, t := range c.past.tasks {
		if t.status == "completed" && t.subject != "" {
			done, last = append(done, text.CleanLine(t.subject)), t
		}
		if !t.open() || t.subject == "" {
			continue
		}
		e := entry{section: secTasks, order: i, handle: c.handle(t.turn, t.step), prior: 6, head: t.line()}
		if t.status == "in_progress" {
			e.prior = 10
		}
		c.addGuides(c.add(e), t, guides, changed)
	}
	if len(done) > 0 {
		head := "completed: " + text.Truncate(strings.Join(done, "; "), max(c.req.Budget/12, 200))
		c.add(entry{section: secTasks, order: len(c.past.tasks), handle: c.handle(last.turn, last.step), prior: densityConclusion * float64(len(head)), head: head})
	}
}

// collectState adds the latest prompt, the last reply, the announced next action, the
// last action with its result, and uncommitted changes. It returns the statements that
// it quotes.
func collectState(c *collector, prompts []prompt) (quoted quotation) {
	if n := len(prompts); n > 0 && prompts[n-1].text != "" && !c.req.Prompted {
		last := prompts[n-1]
		body, rest := split(last.text, max(c.req.Budget/4, 160))
		e := c.add(entry{section: secState, order: 0, handle: c.handle(last.turn, last.step), prior: 20, required: true, head: "Latest request: " + body})
		c.addRest(e, rest)
	}
	c.addOrigin(prompts)
	c.addGoal()
	quoted = c.addLastWords()
	c.addSteps()
	c.addLastAction()
	c.addUncommitted()
	return quoted
}

// addUncommitted adds the names of the files that changed after the session's last commit.
func (c *collector) addUncommitted() {
	var names []string
	changed, committed := c.changedFiles()
	for _, f := range changed {
		if f.uncommitted && len(names) < maxUncommitted {
			names = append(names, f.name)
		}
	}
	if len(names) > 0 {
		head := "Changed, newest first, without a commit: "
		if committed {
			head = "Changed since the last commit, newest first: "
		}
		most := max(c.req.Budget/24, 120)
		if c.req.handsOver() { // paths are longer than names
			most *= 2
		}
		c.add(entry{section: secState, order: 40, prior: 30, required: c.req.handsOver(), head: head + text.Truncate(strings.Join(names, ", "), most)})
	}
}

// quotation is a quoted text without markup.
type quotation string

// plain returns a text without line breaks and the markup that statements lose.
func plain(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("*#:-_", r) }), " ")
}

// holds reports whether all lines of a statement are in the quotation.
func (q quotation) holds(statement string) bool {
	for line := range strings.SplitSeq(statement, "\n") {
		if !strings.Contains(string(q), plain(line)) {
			return false
		}
	}
	return true
}

// addLastWords adds the end of the last reply, and returns it. What it announces is about
// to happen, unless a call followed.
func (c *collector) addLastWords() (quoted quotation) {
	for _, x := range slices.Backward(c.past.passages) {
		if !isReply(x) {
			continue
		}
		said, next := cutAnnouncement(compactLines(text.Clean(c.short(x.Text))))
		h := c.handle(x.Turn, x.Step)
		if said != "" {
			words := ending(unmarked(said), max(c.req.Budget/12, 160))
			c.add(entry{section: secState, order: 10, handle: h, prior: 12, required: true, head: "Last words: " + words})
			quoted = quotation(plain(words))
		}
		if next == "" {
			return quoted
		}
		label := "About to: "
		if n := len(c.past.calls); n > 0 {
			switch y := c.past.calls[n-1]; {
			case c.age(x.Turn, x.Step) > c.age(y.Turn, y.Step)+1:
				return quoted // it is done
			case y.Turn > x.Turn || y.Turn == x.Turn && y.Step > x.Step:
				label = "Announced before the last action: "
			case y.LineUse > x.LineFrom && y.LineResult >= 0:
				label = "Begun: "
			}
		}
		c.add(entry{section: secState, order: 11, handle: h, prior: 12, required: said == "", head: label + text.Truncate(next, maxStatement)})
		return quoted
	}
	return quoted
}

func (c *collector) addLastAction() {
	n := len(c.past.calls)
	if n == 0 {
		return
	}
	x := c.past.calls[n-1]
	if x.Failed && x.Kind == archive.CallCommand {
		return // an open error
	}
	what := c.describe(x)
	if what == "" && x.Kind == archive.CallTask {
		return // the tasks have a section
	}
	if o := c.resultOf(x); what == "" && o != nil {
		what, _, _ = strings.Cut(o.Text, "\n")
		what = text.Truncate(text.CleanLine(c.short(what)), maxLineUnits)
	}
	if what = cmp.Or(what, x.Name); what != "" {
		c.add(entry{section: secState, order: 20, handle: c.handle(x.Turn, x.Step), head: "Last action: " + what + c.lastResult(x), prior: 12, required: c.req.handsOver()})
	}
}

// maxUncommitted is how many files without a commit are listed.
const maxUncommitted = 40

// changedFile is a file that the session changed, and where it did last.
type changedFile struct {
	base, name  string // name is for the reader: the base name, in a hand-over the path
	handle      string
	uncommitted bool // no commit of the session followed
}

// changedFiles returns the files that the session changed, the last one first, and
// whether the session committed anything.
func (c *collector) changedFiles() (all []changedFile, committed bool) {
	seen := map[string]bool{}
	for _, x := range slices.Backward(c.past.calls) {
		switch {
		case x.Failed:
		case x.Kind == archive.CallCommand:
			committed = committed || commits(x.Command)
		case x.Kind == archive.CallEdit:
			for _, f := range x.Files {
				base := path.Base(text.CleanLine(f))
				name := base
				if c.req.handsOver() {
					name = c.short(text.CleanLine(f))
				}
				if !seen[name] {
					seen[name] = true
					all = append(all, changedFile{base, name, c.local(c.handle(x.Turn, x.Step)), !committed})
				}
			}
		}
	}
	return all, committed
}

// commits reports whether a command commits changed files.
func commits(command string) bool {
	for _, c := range []string{"git commit", "git rebase --continue", "git merge --continue", "git cherry-pick --continue"} {
		if strings.Contains(command, c) {
			return true
		}
	}
	return false
}

// cutAnnouncement separates what a reply announces at its end, such as "run the tests"
// of "Let me run the tests:", from the text before it.
func cutAnnouncement(body string) (said, next string) {
	at := strings.LastIndexByte(body, '\n') + 1
	last := body[at:]
	var sentence string
	text.Sentences(last, func(s string) { sentence = s })
	if next = announced(sentence); next == "" {
		return body, ""
	}
	return strings.TrimSpace(strings.TrimSuffix(body, sentence)), next
}

// resultOf returns the passage with the result of a call, nil if there is none.
func (c *collector) resultOf(x archive.Call) *archive.Passage {
	for _, o := range slices.Backward(c.past.passagesAt(place{x.Turn, x.Step})) {
		if o.Kind == archive.KindCommand || o.Kind == archive.KindOutput && o.Label == x.Name {
			return &o
		}
	}
	return nil
}

// lastResult returns the end of a call's result, after a line break; "" for the
// content of a file.
func (c *collector) lastResult(x archive.Call) string {
	o := c.resultOf(x)
	if o == nil || x.Kind == archive.CallRead || x.Kind == archive.CallEdit || x.NotRun() {
		return ""
	}
	_, body, _ := strings.Cut(o.Text, "\n")
	var lines []string
	for raw := range strings.SplitSeq(withoutAgentMetadata(body), "\n") {
		if line := printable(c.short(raw)); line != "" && !text.HasAnyPrefix(line, "[exit ", "# ") {
			lines = append(lines, line)
		}
	}
	if body = ending(strings.Join(lines, "\n"), max(c.req.Budget/16, 200)); body == "" {
		return ""
	}
	return "\n" + body
}

// isReply reports whether a passage is text that the model addressed to the user.
func isReply(x archive.Passage) bool {
	return x.Kind == archive.KindReply && x.Label != archive.LabelThinking
}
