package compact

import (
	"slices"
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
