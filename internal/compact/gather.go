package compact

import (
	"cmp"
	"slices"

	"strandline/internal/archive"
)

// gather collects all items. Files and replies are the longest and need nothing
// of the rest, so they are gathered beside it; the order is that of the calls.
// beside, if there is one, is done while they are waited for.
func (c *collector) gather(beside func()) []*item {
	files := c.aside((*collector).files)
	c.prompts()
	c.tasks()
	c.stood()
	replies := c.aside((*collector).replies) // of those that do not stand yet
	c.lately()
	c.failures()
	first := len(c.items)
	c.commands()
	c.recap()
	if beside != nil {
		beside()
	}
	rest := slices.Clone(c.items[first:])
	c.items = append(append(append(c.items[:first], files()...), replies()...), rest...)
	return c.items
}

// aside runs part of the gathering beside its caller and returns what waits for
// it and gives its items. Until then the caller must not change what it had said.
func (c *collector) aside(part func(*collector)) func() []*item {
	other := &collector{past: c.past, voc: c.voc, found: c.found, root: c.root, req: c.req, steer: c.steer, moments: c.moments, said: c.said}
	done := make(chan struct{})
	go func() {
		defer close(done)
		part(other)
	}()
	return func() []*item {
		<-done
		return other.items
	}
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

// recap adds the lines of a summary that went down with the context.
func (c *collector) recap() {
	var it *item
	for i, x := range c.past.recap {
		if h := c.handle(x.Turn, x.Step); it == nil || it.handle != h {
			it = c.add(item{section: secRecap, order: i, handle: h, head: "The client's own summary said", introduces: true})
		}
		sentences(c.short(x.Text), func(s string) { c.addLine(it, s, it.handle, 0.1, minWords) })
	}
}

// inOrder sorts items as they are printed.
func inOrder(items []*item) []*item {
	out := slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return !it.taken })
	slices.SortStableFunc(out, func(a, b *item) int {
		return cmp.Or(a.rank-b.rank, a.order-b.order)
	})
	return out
}

// handsBack reports whether a line of a sub-agent's answer was added by the
// client: how to continue the agent, its usage, an assessment.
func handsBack(tool, line string) bool {
	return archive.IsAgentTool(tool) &&
		beginsWith(line, "<tools-used-before-summary>", "[Subagent hand-back]", "agentId: ", "<usage>", "subagent_tokens: ", "total_tokens: ", "tool_uses: ", "duration_ms: ")
}
