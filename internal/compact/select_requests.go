package compact

import (
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// collectRequests adds the instructions and the prompts. The last prompt is
// required and, like the first, printed in full if it fits.
func collectRequests(c *collector) {
	if body := strings.TrimSpace(text.Clean(c.req.Instructions)); body != "" {
		c.add(entry{section: secRequests, order: -1, required: true, head: "/compact instructions: " + text.Truncate(body, max(c.req.Budget/4, 160))})
	}
	prompts := c.promptTexts()
	for i, t := range prompts {
		last, first := i == len(prompts)-1, i == 0
		body := compactLines(text.Clean(t.text))
		if body == "" || !last && !first && len(body) <= minLineBytes {
			continue // "yes" or "go on" means nothing without its question
		}
		e := entry{section: secRequests, handle: c.handle(t.turn, -1), order: len(prompts) - i + 2}
		limit, label := 320, ""
		switch {
		case last:
			limit, e.order, e.required, e.prior, label = max(c.req.Budget/4, 160), 0, true, 6, "Latest: "
		case first:
			limit, e.order, e.prior, label = max(c.req.Budget/12, 120), 1, 4, "First: "
		default:
			e.prior = 0.6 + 2*decay(len(prompts)-i, 4)
			if givesPreference(body) {
				e.prior += 0.8
			}
		}
		body, rest := split(body, limit)
		e.head = label + body
		c.addSentences(c.add(e), rest, e.handle, e.prior/40)
	}
}

// collectTasks adds the open tasks.
func collectTasks(c *collector) {
	for i, t := range c.past.tasks {
		if !t.open() || t.subject == "" {
			continue
		}
		e := entry{section: secTasks, order: i, handle: c.handle(t.turn, t.step), prior: 2, head: t.line()}
		if t.status == "in_progress" {
			e.prior = 4
		}
		c.add(e)
	}
}

// collectState adds the last replies and the last action. It returns the replies
// that it quotes.
func collectState(c *collector) (quoted map[string]bool) {
	quoted = map[string]bool{}
	question, n := collectQuestion(c), 0
	for _, x := range slices.Backward(c.past.passages) {
		if n == 2 {
			break
		}
		if !isReply(x) || x.Text == question {
			continue
		}
		e := entry{section: secState, order: n, handle: c.handle(x.Turn, x.Step), prior: 5 - 2*float64(n), required: n == 0}
		if c.past.summary != "" { // the summary describes the state
			e.prior, e.required = e.prior*summaryFactor*summaryFactor, false
		}
		body, rest := split(compactLines(text.Clean(c.short(x.Text))), max(c.req.Budget/16, 100))
		e.head = "Assistant: " + body
		c.addSentences(c.add(e), rest, e.handle, 0.1)
		quoted[x.Text] = true
		n++
	}
	if n := len(c.past.calls); n > 0 {
		x := c.past.calls[n-1]
		if what := c.describe(x); what != "" && !(x.Failed && x.Kind == archive.CallCommand) { // which is an open error
			c.add(entry{section: secState, order: 10, handle: c.handle(x.Turn, x.Step), head: "Last action: " + what, prior: 2})
		}
	}
	return quoted
}

// isReply reports whether a passage is text that the model addressed to the user.
func isReply(x archive.Passage) bool { return x.Kind == archive.KindReply && x.Label != "thinking" }

// shortPrompt is the length, in units, up to which a prompt may be the answer to
// a question.
const shortPrompt = 120

// collectQuestion adds the question that a short last prompt answers: the end of
// the reply before it. It returns the reply, "" for none.
func collectQuestion(c *collector) string {
	prompts := c.promptTexts()
	if len(prompts) < 2 {
		return ""
	}
	last := prompts[len(prompts)-1]
	if text.Units(last.text) > shortPrompt || strings.HasPrefix(last.text, "/") {
		return ""
	}
	for _, x := range slices.Backward(c.past.passages) {
		if x.Turn >= last.turn || !isReply(x) {
			continue
		}
		body := ending(compactLines(text.Clean(c.short(x.Text))), max(c.req.Budget/24, 100))
		if !strings.HasSuffix(strings.TrimRight(body, "*_`\"')"), "?") {
			break
		}
		c.add(entry{section: secState, order: -1, handle: c.handle(x.Turn, x.Step), head: "Question before the latest request: " + body, required: true})
		return x.Text
	}
	return ""
}

// collectRecentReads lists the files read last, without changed ones, which have
// their own entries.
func collectRecentReads(c *collector) {
	edited, seen := c.editCounts(), map[string]bool{}
	var e *entry
	for _, x := range slices.Backward(c.past.calls) {
		if x.Kind != archive.CallRead {
			continue
		}
		h := c.handle(x.Turn, x.Step)
		for _, f := range x.Files {
			if seen[f] || edited[f] > 0 {
				continue
			}
			seen[f] = true
			if e == nil {
				e = c.add(entry{section: secState, order: 30, handle: h, head: "Other files read, newest first", inline: true, source: true})
			}
			c.addLine(e, c.short(text.CleanLine(f)), h, 0.2*decay(c.age(x.Turn, x.Step), 20), 0)
		}
	}
}

// collectReplies adds sentences of the model's replies, except those quoted. A
// sentence with a reason has a higher prior value.
func collectReplies(c *collector, quoted map[string]bool) {
	for _, x := range slices.Backward(c.past.passages) {
		if x.Kind != archive.KindReply || quoted[x.Text] {
			continue
		}
		age := c.age(x.Turn, x.Step)
		e := &entry{section: secDecisions, order: age, handle: c.handle(x.Turn, x.Step), inline: true}
		e.units = text.Units("- []") + text.Units(e.handle)
		w := decay(age, 30)
		if x.Label == "thinking" {
			w *= 0.7
		}
		sentences(c.short(x.Text), func(s string) {
			l := c.addLine(e, s, e.handle, 0.1*w, minWords)
			switch {
			case l == nil:
			case isFiller(s) || isCode(s):
				l.factor, l.prior = noWordsFactor, 0
			case givesReason(s):
				l.prior += 0.9 * w
			case isAnnouncement(s) || strings.HasSuffix(s, ":"):
				l.factor = 0.5
			}
		})
		if len(e.lines) > 0 {
			c.entries = append(c.entries, e)
		}
	}
}

// collectSummary adds the lines of a summary that has left the context.
func collectSummary(c *collector) {
	var e *entry
	for i, x := range c.past.oldSummary {
		if h := c.handle(x.Turn, x.Step); e == nil || e.handle != h {
			e = c.add(entry{section: secSummary, order: i, handle: h, head: "Summary by the client", source: true})
		}
		c.addSentences(e, c.short(x.Text), e.handle, 0.1)
	}
}
