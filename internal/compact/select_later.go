package compact

import (
	"strings"
	"sync"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// removals maps a name to the last edit that removed it from a file, unless a later edit
// or reading shows the name again.
type removals map[int32]archive.Passage

// findRemovals returns the names that edits removed.
func (v *view) findRemovals() removals {
	gone := removals{}
	for i, x := range v.past.passages {
		h := v.hunks[i]
		switch {
		case h != nil:
			removed, added := v.namesIn(h.removed), v.namesIn(h.added)
			for _, id := range removed {
				gone[id] = x
			}
			for _, id := range added {
				delete(gone, id)
			}
		case x.Kind == archive.KindOutput && len(gone) > 0:
			for _, id := range v.index.text(i) {
				delete(gone, id)
			}
		}
	}
	return gone
}

func (v *view) namesIn(lines []string) []int32 {
	var ids []int32
	for _, l := range lines {
		ids, _ = v.terms.find(l, ids)
	}
	return ids
}

// markLater adds to a statement, made at a line of the transcript, that a later edit
// removed a name in it: it is out of date. A nil line is ignored.
func (c *collector) markLater(l *line, at int, gone removals) {
	if l == nil {
		return
	}
	var last archive.Passage
	var name int32
	for _, id := range l.terms {
		if x, ok := gone[id]; ok && x.LineFrom > max(at, last.LineFrom) {
			last, name = x, id
		}
	}
	if last.LineFrom == 0 {
		return
	}
	lines := strings.Split(l.text, "\n")
	for i, line := range lines {
		mark := ""
		text.Terms(line, func(s string) {
			if id, ok := c.terms.ids[s]; ok && id == name && !removalPhrases().in(line) {
				mark = " (later changed: [" + c.local(c.handle(last.Turn, last.Step)) + "] removed " + s + ")"
			}
		})
		if mark != "" {
			lines[i] += mark
			l.units += text.Units(mark)
			break
		}
	}
	l.text = strings.Join(lines, "\n")
}

// removalPhrases are those of a line that announces the removal of the names in it.
var removalPhrases = sync.OnceValue(func() *phraseSet {
	return newPhraseSet("replace", "replaced", "remove", "removed", "rename", "renamed", "delete", "deleted", "drop", "dropped", "revert", "reverted", "unused", "no longer",
		"must change", "instead of", "rather than")
})
