package compact

import (
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// render prints the chosen items under their sections.
func render(items []*item, titles []string) (string, []string) {
	var b strings.Builder
	var handles []string
	note := func(h string) {
		if h != "" && !slices.Contains(handles, h) {
			handles = append(handles, h)
		}
	}
	section := -1
	for _, it := range inOrder(items) {
		if it.section != section {
			section = it.section
			b.WriteString(titles[section] + "\n")
		}
		b.WriteString("-")
		if it.handle != "" {
			b.WriteString(" [" + it.handle + "]")
			note(it.handle)
		}
		slices.SortFunc(it.chosen, func(x, y *line) int { return x.seq - y.seq })
		if it.head != "" {
			b.WriteString(" " + strings.ReplaceAll(it.head, "\n", "\n  "))
			if len(it.chosen) > 0 && it.introduces {
				b.WriteByte(':')
			}
		}
		for i, l := range it.chosen {
			switch {
			case !it.inline:
				b.WriteString("\n  ")
			case i > 0 && l.seq != it.chosen[i-1].seq+1:
				b.WriteString(" … ")
			case i > 0 && !stops(it.chosen[i-1].text):
				b.WriteString("; ") // entries of a list
			default:
				b.WriteByte(' ')
			}
			b.WriteString(l.text)
			if l.handle != "" {
				b.WriteString(" (" + shortPlace(l.handle, it.handle) + ")")
				note(l.handle)
			}
		}
		b.WriteByte('\n')
	}
	return b.String(), handles
}

// footer is the last line: what is missing and how to get it.
func footer(session string, left int) string {
	out := ""
	if left > 0 {
		out = fmt.Sprintf("Left out: %d more items. ", left)
	}
	return out + "strandline show HANDLE expands an entry; strandline search \"WORDS\" --session " + archive.ShortID(session) + " finds the rest."
}
