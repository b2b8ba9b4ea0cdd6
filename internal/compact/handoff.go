package compact

import (
	"fmt"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// HandoffBudget is the usual size of a hand-over, in UTF-16 units.
const HandoffBudget = 12_000

// handsOver reports that the text is for a reader that has nothing of the session in its
// context.
func (r Request) handsOver() bool { return r.From != "" }

// handoffLayout starts with what a reader without the conversation needs to go on. The
// client's summary counts more than in a context that continues after it.
func handoffLayout() layout {
	return layout{{secOrders, 1}, {secState, 1}, {secChanges, 1}, {secTasks, 1.2}, {secReported, 1}, {secErrors, 1.2}, {secTurns, 1}, {secSummary, 2}, {secFiles, 1}, {secCommands, 0.8}, {secReads, 0.8}, {secSegments, 1}, {secNames, 0}}
}

// introduction says where the record comes from, and how to read its handles.
func (p *past) introduction(req Request) string {
	s := p.session
	var b strings.Builder
	b.WriteString(req.From + " worked")
	if s.Cwd != "" {
		b.WriteString(" in " + text.CleanLine(s.Cwd))
	}
	if s.GitBranch != "" {
		b.WriteString(" on branch " + text.CleanLine(s.GitBranch))
	}
	if !p.end.IsZero() {
		const minute = "2006-01-02 15:04"
		if s.First.Before(p.end) && !s.First.IsZero() { // a fork can begin after the rows that it copies
			b.WriteString(" from " + s.First.UTC().Format(minute) + " to ")
		} else {
			b.WriteString(" until ")
		}
		b.WriteString(p.end.UTC().Format(minute) + " UTC")
		if gone := req.Now.Sub(p.end); !req.Now.IsZero() && gone > 0 {
			b.WriteString(" (" + since(gone) + ")")
		}
	}
	id := archive.ShortID(s.ID)
	fmt.Fprintf(&b, ". [3.1] is turn 3, step 1 of session %s: `strandline show %s/3.1` prints it in full.\n", id, id)
	fmt.Fprintf(&b, "To ask for more: `strandline search \"WORDS\" --session %s`, or search and recall of the MCP server strandline.\n", id)
	return b.String()
}

// addOrigin adds the beginning of the first request, if it is not the latest, and the point
// at which the work stopped.
func (c *collector) addOrigin(prompts []prompt) {
	if !c.req.handsOver() {
		return
	}
	if len(prompts) > 1 && prompts[0].text != "" {
		first := prompts[0]
		head := "First request: " + text.Truncate(text.CleanLine(first.text), max(c.req.Budget/64, minLine))
		c.add(entry{section: secState, order: -1, handle: c.handle(first.turn, first.step), prior: 20, required: true, head: head})
	}
	if where, handle := c.stopped(); where != "" {
		c.add(entry{section: secState, order: 30, handle: handle, prior: 20, required: true, head: "Where it stopped: " + where})
	}
}

// stopped describes where the work stopped, with the handle of its last place.
func (c *collector) stopped() (where, handle string) {
	var reply *archive.Passage
	for i := len(c.past.passages) - 1; i >= 0 && reply == nil; i-- {
		if isReply(c.past.passages[i]) {
			reply = &c.past.passages[i]
		}
	}
	last := place{-1, -1}
	if n := len(c.past.calls); n > 0 {
		last = place{c.past.calls[n-1].Turn, c.past.calls[n-1].Step}
	}
	request := place{-1, -1}
	if n := len(c.past.prompts); n > 0 {
		request = place{c.past.prompts[n-1].Turn, c.past.prompts[n-1].Step}
	}
	if reply == nil || request.compare(place{reply.Turn, reply.Step}) > 0 && request.compare(last) > 0 {
		return "the latest request has no answer yet", c.handle(max(request.turn, 0), -1)
	}
	at := place{reply.Turn, reply.Step}
	if last.compare(at) > 0 {
		return "at this step; the latest request has no answer yet", c.handle(last.turn, last.step)
	}
	open := 0
	for _, t := range c.past.tasks {
		if t.open() && t.subject != "" {
			open++
		}
	}
	said, next := cutAnnouncement(compactLines(text.Clean(reply.Text)))
	switch {
	case next != "":
		where = "before the announced step"
	case strings.HasSuffix(said, "?"):
		where = "the user did not answer the question in the last words"
	case open > 0:
		where = "the latest request was answered, with " + text.Count(open, "open task")
	default:
		where = "the latest request was answered"
	}
	return where, c.handle(at.turn, at.step)
}
