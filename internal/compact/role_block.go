package compact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// roleShare is how much of a block, in percent, its template may take where there
// is room for both: the rest goes to what is worth most, as without a role. Below
// leastMixed units the template has it all.
const (
	roleShare  = 60
	leastMixed = 2500
)

// restoreRole makes the block that a role's template shapes.
func restoreRole(ctx context.Context, p *past, req Request) (Block, error) {
	role := req.Role.resolve(p)
	title := blockTitle(p) + ", for the " + string(role)
	room := req.Budget - text.Overhead - text.Units(title) - text.Units(roleNotice(role, req.Session, 99999)) - 1
	if room < minLine || len(p.passages)+len(p.prompts) == 0 {
		return Block{}, nil
	}
	c := newCollector(p, req)
	template := room
	if room >= leastMixed {
		template = room * roleShare / 100
	}
	body, handles, left := printParts(c.parts(role), template)
	if body == "" {
		return Block{}, ctx.Err()
	}
	if room -= text.Units(body) + text.Units(headMore) + 1; room >= leastMixed/4 {
		more, from, rest := c.more(body, room)
		left += rest
		if more != "" {
			body += headMore + "\n" + more
			for _, h := range from {
				if !slices.Contains(handles, h) {
					handles = append(handles, h)
				}
			}
		}
	}
	return Block{Text: text.Fence(title, body+roleNotice(role, req.Session, left)), Handles: handles, Left: left}, ctx.Err()
}

// more fills what a template leaves with what is worth most beside it.
func (c *collector) more(told string, room int) (body string, handles []string, left int) {
	c.req.Budget = room
	c.settle(told)
	items := slices.DeleteFunc(c.gather(nil), func(it *item) bool {
		return it.section == secAsked || it.section == secTasks || it.section == secStood && !it.inline || len(it.lines) == 0 && strings.Contains(told, it.head)
	})
	ch := newChooser(c.voc, subTitles(), room)
	for raw := range strings.SplitSeq(told, "\n") {
		ch.said[readSaid(strings.TrimPrefix(strings.TrimSpace(raw), "- ")).text] = true
	}
	return ch.pick(items)
}

// parts is the template of a role.
func (c *collector) parts(role Role) []part {
	order := part{title: "With this /compact", rank: 0}
	if body := strings.TrimSpace(clean(c.req.Instructions)); body != "" {
		order.items = []text.Item{{Text: text.Cut(body, max(c.req.Budget/4, 160))}}
	}
	skills := part{title: "Skills to restore", rank: 9, items: c.skills()}
	parts := []part{order}
	switch role {
	case RoleOrchestrator:
		parts = append(parts,
			part{title: "Goal (verbatim)", rank: 1, items: c.asked(1)},
			part{title: "Progress", rank: 2, items: c.progress()},
			part{title: "Waves of sub-agents", rank: 7, items: c.waves()},
			part{title: "Active sub-tasks and what blocks them", rank: 3, items: c.active()},
			part{title: "Agents and what they found", rank: 6, items: c.agents()},
			part{title: "Decisions and reasons", rank: 5, items: c.keepDecisions()},
			part{title: "Files changed", rank: 8, items: c.keepFiles()},
			part{title: "Next steps", rank: 4, items: c.nextSteps()})
	case RoleDeveloper:
		parts = append(parts,
			part{title: "Current task (verbatim)", rank: 1, items: c.current()},
			part{title: "Recent changes", rank: 3, items: c.changed()},
			part{title: "Code context", rank: 5, items: c.codeContext()},
			part{title: "Issues", rank: 4, items: c.issues()},
			part{title: "Tools used", rank: 8, items: c.tools()},
			part{title: "Next action", rank: 2, items: c.nextSteps()})
	case RoleSpecialist:
		parts = append(parts,
			part{title: "Question (verbatim)", rank: 1, items: c.asked(1)},
			part{title: "Findings and reasons", rank: 2, items: c.keepDecisions()},
			part{title: "Files looked at", rank: 4, items: c.looked()},
			part{title: "Commands and how they ended", rank: 5, items: c.ran()},
			part{title: "Issues", rank: 6, items: c.issues()},
			part{title: "Files changed", rank: 7, items: c.keepFiles()},
			part{title: "Next action", rank: 3, items: c.nextSteps()})
	default:
		failures := c.issues()
		parts = append(parts,
			part{title: "To verify (verbatim)", rank: 1, items: append(c.asked(3), c.active()...)},
			part{title: "Test and build commands, with their last outcome", rank: 2, items: c.keepChecks(nil)},
			part{title: "Unresolved errors", rank: 3, items: failures},
			part{title: "Files changed", rank: 4, items: c.keepFiles()},
			part{title: "Files looked at", rank: 7, items: c.looked()},
			part{title: "Decisions to hold it against", rank: 5, items: c.keepDecisions()},
			part{title: "Next action", rank: 6, items: c.nextSteps()})
	}
	return append(parts, skills)
}

// asked returns the last prompt and up to n-1 before it that state how things
// are to be done, verbatim as far as there is room.
func (c *collector) asked(n int) (items []text.Item) {
	turns := c.promptTexts()
	for i := len(turns) - 1; i >= 0 && len(items) < n; i-- {
		body := dense(clean(turns[i].text))
		if body == "" || len(items) > 0 && !states(body) {
			continue
		}
		limit := max(c.req.Budget/4, 160)
		if len(items) > 0 {
			limit = max(c.req.Budget/12, 120)
		}
		items = append(items, text.Item{Text: text.Cut(body, limit), Handle: c.handle(turns[i].turn, -1)})
	}
	return items
}

// current is the task in hand: what was asked last, and the tasks in progress.
func (c *collector) current() []text.Item {
	items := c.asked(1)
	for _, t := range c.past.tasks {
		if t.status == "in_progress" && t.subject != "" && len(items) <= keepTasks {
			items = append(items, c.entry(valueTask, len(items), t.turn, t.step, t.line()))
		}
	}
	return items
}

// nextSteps are the tasks that wait, what was said and what was done last.
func (c *collector) nextSteps() (items []text.Item) {
	for i := len(c.past.passages) - 1; i >= 0; i-- {
		x := c.past.passages[i]
		if x.Kind == archive.KindReply && x.Label != "thinking" {
			body, _ := clip(dense(clean(c.short(x.Text))), max(c.req.Budget/12, 120))
			items = append(items, text.Item{Text: "Said last: " + body, Handle: c.handle(x.Turn, x.Step)})
			break
		}
	}
	if n := len(c.past.calls); n > 0 {
		x := c.past.calls[n-1]
		if act := c.act(x); act != "" {
			items = append(items, text.Item{Text: "Done last: " + act, Handle: c.handle(x.Turn, x.Step)})
		}
	}
	for _, t := range c.past.tasks {
		if t.open() && t.status != "in_progress" && t.subject != "" && len(items) < 2+keepNext {
			items = append(items, text.Item{Text: t.line(), Handle: c.handle(t.turn, t.step)})
		}
	}
	return items
}

// How many entries of a kind a template holds beside those that the summarizer
// is asked to keep as well.
const (
	keepNext   = 5
	keepWaves  = 8
	keepAgents = 10
	keepLooked = 15
	keepRan    = 8
	keepSkills = 10
	keepLines  = 3
	keepDeps   = 20
)

// progress counts tasks, or sub-agents where there are no tasks.
func (c *collector) progress() (items []text.Item) {
	done, total, last := 0, 0, task{}
	for _, t := range c.past.tasks {
		if t.status == "deleted" || t.status == "cancelled" {
			continue
		}
		total++
		if t.status == "completed" {
			done++
			last = t
		}
	}
	if total > 0 {
		items = append(items, text.Item{Text: fmt.Sprintf("%d of %d tasks completed", done, total)})
	}
	if last.subject != "" {
		items = append(items, text.Item{Text: "last " + last.line(), Handle: c.handle(last.turn, last.step)})
	}
	started, back := 0, 0
	for _, x := range c.past.calls {
		if x.Kind == archive.CallAgent {
			started++
			if x.LineResult >= 0 {
				back++
			}
		}
	}
	if started > 0 {
		items = append(items, text.Item{Text: fmt.Sprintf("%d of %d sub-agents have answered", back, started)})
	}
	return items
}
