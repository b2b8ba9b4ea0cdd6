package compact

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Densities: the prior value of a statement per unit of its length, by its source.
// The terms of a statement add to it. Around these values, by a factor of 1.5 either
// way, the answers and names that a text of 9,500 units holds change by less than 3 %.
const (
	densityMessage    = 0.50  // of a message that the user sent while the model worked
	densityTask       = .2    // of the plan's section about an open task
	densityFailure    = 0.15  // of the lines in which a check failed
	densityConclusion = 0.10  // of the reply that ended a turn
	densityFinding    = 0.08  // of another reply, with a finding
	densityReply      = 0.07  // of another reply
	densityOrder      = 0.06  // of the rest of a long prompt, and of a command's expansion
	densityPlan       = 0.05  // of the plan that was read
	densityResult     = 0.04  // of a recent result
	densityReport     = 0.04  // of a sub-agent's report
	densityThought    = 0.015 // of the model's reasoning, with a reason

	halfAge  = 80  // steps after which a density has fallen halfway to its floor
	ageFloor = 0.5 // part of a density that remains at any age
	// freshAge is the steps after which half is left of what the newest statements, which
	// are about the current work, count more.
	freshAge = 6
	// firstFactor raises the first statement of a reply that ended a turn: it usually
	// answers the prompt.
	firstFactor = 2.5
	// reasonFactor raises a statement of a reply that gives a reason.
	reasonFactor = 1.5
)

// aged returns the density of something n places back.
func aged(density float64, n int) float64 {
	return density * (ageFloor + (1-ageFloor)*decay(n, halfAge)) * (1 + decay(n, freshAge))
}

const (
	// promptPercent of the budget is for the heads of the prompts. Those that do not
	// fit are truncated, the longest first.
	promptPercent      = 40
	smallPromptPercent = 20
	// shortAnswer is the length, in units, up to which a prompt is understood only with
	// the question before it.
	shortAnswer = 40
	// shortPrompt is the length of the latest prompt in the conversation: the current
	// state quotes it.
	shortPrompt = 120
	minHead     = 40 // units of a truncated prompt
	promptFrame = len("- [10] User: \n")
)

// collectTurns adds an entry for each turn, in order: the prompt, and the statements
// of the replies to it, except those quoted.
func collectTurns(c *collector, prompts []prompt, quoted quotation) {
	entries := map[int]*entry{}
	share := promptPercent
	if c.small {
		share = smallPromptPercent
	}
	budget := c.req.Budget * share / 100
	limit := max(promptLimit(prompts, budget), minHead)
	newest := len(prompts) - budget/(minHead+promptFrame) // the older ones are not required
	for i, t := range prompts {
		if t.text == "" {
			continue
		}
		if c.req.Prompted {
			if entries[t.turn] == nil { // printed if a reply below it is
				entries[t.turn] = c.add(entry{section: secTurns, handle: c.handle(t.turn, -1), order: t.turn})
			}
			continue
		}
		most := limit
		if i == len(prompts)-1 && !c.stateless {
			most = shortPrompt // it is also in the state
		}
		body, rest := split(t.text, most)
		if e := entries[t.turn]; e != nil { // a message while the model worked
			c.addPiece(e, "User: "+body, c.handle(t.turn, t.step), densityMessage, 1).setLine(t.line)
			continue
		}
		e := c.add(entry{section: secTurns, handle: c.handle(t.turn, -1), order: t.turn, required: i == 0 || i >= newest, prior: 4, head: "User: " + body})
		entries[t.turn] = e
		if i < len(prompts)-1 || c.stateless {
			c.addRest(e, rest)
		}
		add := func(s statement) { c.addPiece(e, s.text, e.handle, densityOrder, 1) }
		if expansion := c.short(c.past.expansions[t.turn]); c.req.Budget >= largeBudget {
			statements(expansion, nil, add)
		} else {
			excerpts(expansion, givesRule, add)
		}
	}
	c.collectOrders(prompts)
	c.collectReplies(entries, prompts, quoted)
}

// addRest adds the sentences of the rest of a long prompt, without pasted code or output.
func (c *collector) addRest(e *entry, rest string) {
	excerpts(rest, isProse, func(s statement) {
		d := densityOrder
		if givesPreference(s.text) {
			d *= 1.5
		}
		c.addPiece(e, s.text, e.handle, d, 1)
	})
}

// collectReplies adds the statements of the replies to the entries of their turns.
func (c *collector) collectReplies(entries map[int]*entry, prompts []prompt, quoted quotation) {
	ends, answered, gone := c.lastReplies(), map[int]bool{}, c.findRemovals()
	for i := range prompts[:max(len(prompts)-1, 0)] {
		next := prompts[i+1].text
		answered[prompts[i].turn] = text.Units(next) <= shortAnswer && !strings.HasPrefix(next, "/")
	}
	for i, x := range c.past.passages {
		if x.Kind != archive.KindReply {
			continue
		}
		e := entries[x.Turn]
		if e == nil { // the prompt is not loaded
			e = c.add(entry{section: secTurns, handle: c.handle(x.Turn, -1), order: x.Turn, head: "…"})
			entries[x.Turn] = e
		}
		c.addReply(e, x, ends[i], answered[x.Turn], quoted, gone)
	}
}

// addReply adds the statements of a reply. last reports that it ended the turn,
// answered that a short prompt followed.
func (c *collector) addReply(e *entry, x archive.Passage, last, answered bool, quoted quotation, gone removals) {
	age, h := c.age(x.Turn, x.Step), c.handle(x.Turn, x.Step)
	thought := x.Label == archive.LabelThinking
	read, pick := statements, func(s string) bool { return answered || !asksUser(s) }
	if thought {
		read, pick = excerpts, func(s string) bool { return givesReason(s) && !isTentative(s) }
	}
	n := 0
	read(c.short(x.Text), pick, func(s statement) {
		if quoted.holds(s.text) {
			return
		}
		d := densityReply
		switch {
		case thought:
			d = densityThought
		case last && answered && isQuestion(s.text):
			d = densityMessage // the question that the user answered
		case last && n == 0:
			d = densityConclusion * firstFactor
		case last:
			d = densityConclusion
		case s.finding:
			d = densityFinding
		}
		if s.reason && !thought {
			d *= reasonFactor
		}
		n++
		l := c.addPiece(e, s.text, h, aged(d, age), 1)
		if l != nil {
			l.reason = s.reason && !thought
		}
		l.setLine(x.LineFrom)
		c.markLater(l, x.LineFrom, gone)
	})
}

// lastReplies returns the indexes of the passages that ended a turn: its last reply
// to the user, and of the newest turn the last two.
func (c *collector) lastReplies() map[int]bool {
	out := map[int]bool{}
	turn := math.MinInt32
	for i, x := range slices.Backward(c.past.passages) {
		if isReply(x) && (x.Turn != turn || len(out) == 1) {
			turn, out[i] = x.Turn, true
		}
	}
	return out
}

// promptLimit returns the largest length at which the prompts fit into budget if the
// longer ones are truncated to it.
func promptLimit(prompts []prompt, budget int) int {
	most := 0
	for _, p := range prompts {
		most = max(most, text.Units(p.text))
	}
	return sort.Search(most, func(n int) bool {
		sum := 0
		for _, p := range prompts {
			sum += min(text.Units(p.text), n+1) + promptFrame
		}
		return sum > budget
	})
}

// maxOrders limits the listed standing instructions; the newest are listed.
const maxOrders = 8

// collectOrders adds the instructions to the compaction, and the sentences of the
// prompts that hold beyond their turn.
func (c *collector) collectOrders(prompts []prompt) {
	if body := strings.TrimSpace(text.Clean(c.req.Instructions)); body != "" {
		c.add(entry{section: secOrders, order: -1, required: true, head: "/compact instructions: " + text.Truncate(body, max(c.req.Budget/4, 160))})
	}
	c.addNotes()
	if c.req.Prompted {
		return
	}
	n := 0
	for _, t := range slices.Backward(prompts) {
		for line := range strings.SplitSeq(t.text, "\n") {
			text.Sentences(text.TrimMarkdown(text.CleanLine(line)), func(s string) {
				if n < maxOrders && isStanding(s) {
					c.add(entry{section: secOrders, order: t.turn, handle: c.handle(t.turn, -1), head: s, prior: 2 * densityConclusion * float64(len(s))})
					n++
				}
			})
		}
	}
}

// prompt is a text that the user sent.
type prompt struct {
	turn, step, line int
	text             string // cleaned, without empty lines
}

// promptTexts returns the prompts, oldest first. A prompt that was sent again
// after an interruption appears once.
func (v *view) promptTexts() []prompt {
	var out []prompt
	for _, x := range v.past.prompts {
		p := prompt{x.Turn, x.Step, x.LineFrom, compactLines(withoutClientNotes(text.Clean(x.Text)))}
		if n := len(out); n > 0 && out[n-1].text == p.text {
			out = out[:n-1]
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b prompt) int { return cmp.Or(a.turn-b.turn, a.line-b.line) })
	return out
}

// withoutClientNotes removes the client's additions to a prompt that executes a plan, and to
// a summary, which are at its end.
func withoutClientNotes(s string) string {
	s, _, _ = strings.Cut(s, "If you need specific details from before ")
	return s
}
