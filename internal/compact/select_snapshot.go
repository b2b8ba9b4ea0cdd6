package compact

import (
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// snapshotShare is the part of the budget, one in snapshotShare, that the lines of a
// snapshot take whatever their value. Those that do not fit compete with all others.
const snapshotShare = 4

// collectSnapshot adds the session's current snapshot, which another program posted.
func collectSnapshot(c *collector) {
	now := c.req.Now
	if c.req.AtLine > 0 {
		now = c.past.end
	}
	f, at, ok := archive.CurrentSnapshot(c.past.snapshots, now)
	if !ok {
		return
	}
	left := c.req.Budget / snapshotShare
	for i, line := range f.Lines() {
		head := text.Truncate(text.Neutralize(text.Clean(c.short(line))), maxStatement)
		left -= text.Units(head) + promptFrame
		c.add(entry{section: secReported, order: i, prior: 6, required: left >= 0, head: head})
	}
	if c.past.end.Sub(at) > time.Minute {
		when := "As of " + at.UTC().Format("2006-01-02 15:04") + " UTC; the session continued after that"
		c.add(entry{section: secReported, order: -1, prior: 6, required: true, head: strings.TrimSpace(when)})
	}
}
