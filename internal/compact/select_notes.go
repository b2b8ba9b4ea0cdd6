package compact

import "strandline/internal/text"

// The bounds of the user's notes in a restored context: their number, and their share of the
// budget.
const (
	maxNotes   = 12
	notesShare = 6
)

// addNotes adds the user's notes, newest first, above the standing instructions. A note that
// does not fit is left out; `strandline remember --list` prints all.
func (c *collector) addNotes() {
	left := c.req.Budget / notesShare
	for i, n := range c.past.notes[:min(len(c.past.notes), maxNotes)] {
		if c.req.AtLine > 0 && n.Time.After(c.past.end) {
			continue // not known yet
		}
		head := "Note of the user: " + text.Truncate(text.CleanLine(n.Text), maxStatement)
		size := text.Units(head) + promptFrame
		if size > left {
			continue
		}
		left -= size
		c.add(entry{section: secOrders, order: i - maxNotes - 1, required: true, head: head})
	}
}
