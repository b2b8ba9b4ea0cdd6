package compact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// part is a section of a role's block.
type part struct {
	title string
	rank  int // 0: the last that is given up
	items []text.Item
	taken []text.Item
}

// leastItem is the least that an entry of a part is cut to, its handle included,
// and leastText the least of its own text, in units.
const (
	leastItem = 44
	leastText = 12
)

// header is the part's heading; one that holds less than there is says so.
func (p *part) header() string {
	if len(p.taken) == len(p.items) {
		return "## " + p.title + "\n"
	}
	return fmt.Sprintf("## %s (%d of %d)\n", p.title, len(p.taken), len(p.items))
}

// widest is the most that the heading takes, in units.
func (p *part) widest() int {
	return text.Units(p.title) + len("##  ( of )\n") + 2*len(fmt.Sprint(len(p.items)))
}

// printParts fits parts into room units. A heading stands as long as there is
// room for the beginning of an entry under it; then entries come in turn: the
// first of every part, then the second. It returns how many entries are missing.
func printParts(parts []part, room int) (text string, handles []string, left int) {
	parts = slices.DeleteFunc(parts, func(p part) bool { return len(p.items) == 0 })
	for i := range parts {
		left += len(parts[i].items)
	}
	byRank := make([]*part, len(parts))
	for i := range parts {
		byRank[i] = &parts[i]
	}
	slices.SortStableFunc(byRank, func(a, b *part) int { return cmp.Compare(a.rank, b.rank) })
	kept := 0 // room for an entry under each heading
	for n, p := range byRank {
		if room-kept < p.widest()+leastItem {
			byRank = byRank[:n]
			break
		}
		room -= p.widest()
		kept += leastItem
	}
	for i := 0; ; i++ {
		open := false
		for j, p := range byRank {
			if i >= len(p.items) {
				continue
			}
			open = true
			limit := room
			if i == 0 { // a long prompt must not leave the other parts without an entry
				limit = min(room, max(room-(len(byRank)-j-1)*leastItem, leastItem))
			}
			if it, n := fitItem(p.items[i], limit); n > 0 {
				p.taken = append(p.taken, it)
				room -= n
				left--
			}
		}
		if !open {
			break
		}
	}
	var b strings.Builder
	for i := range parts {
		p := &parts[i]
		if !slices.Contains(byRank, p) {
			continue
		}
		b.WriteString(p.header())
		for _, it := range p.taken {
			b.WriteString(entryText(it))
			if it.Handle != "" && !slices.Contains(handles, it.Handle) {
				handles = append(handles, it.Handle)
			}
		}
	}
	return b.String(), handles, left
}

func entryText(it text.Item) string {
	return said{handle: it.Handle, text: it.Text}.entry()
}

// fitItem cuts an entry to the room if need be, and returns what it takes; 0 if
// too little of it would stand.
func fitItem(it text.Item, room int) (text.Item, int) {
	n := text.Units(entryText(it))
	if n <= room {
		return it, n
	}
	for {
		at := strings.LastIndexByte(it.Text, '\n')
		if at < 0 {
			break
		}
		it.Text = it.Text[:at] // whole lines first
		if n = text.Units(entryText(it)); n <= room {
			return it, n
		}
	}
	frame := text.Units(entryText(text.Item{Handle: it.Handle}))
	if room-frame < leastText {
		return it, 0
	}
	it.Text = text.Cut(it.Text, room-frame)
	return it, text.Units(entryText(it))
}

// roleNotice is the last line of a role's block: what was cut, and how to get it.
func roleNotice(role Role, session string, left int) string {
	id := archive.ShortID(session)
	if left == 0 {
		return "strandline show HANDLE expands an entry; strandline search \"WORDS\" --session " + id + " finds the rest."
	}
	entries := "1 entry"
	if left > 1 {
		entries = fmt.Sprintf("%d entries", left)
	}
	return fmt.Sprintf("Cut to fit: %s left out; strandline restore --session %s --role %s --budget 30000", entries, id, role)
}
