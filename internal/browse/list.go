package browse

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"strandline/internal/recall"
	"strandline/internal/text"
)

// list returns the visible hits.
func (m *Model) list(l layout) []string {
	hits := m.result.Hits
	handles := 0 // width of the widest handle
	for _, h := range hits {
		handles = max(handles, ansi.StringWidth(h.Handle))
	}
	handles = min(handles, l.listWidth/3)
	var out []string
	for i := m.top; i < len(hits) && len(out) < l.listHeight; i++ {
		if l.sideBySide {
			out = append(out, m.multiRow(i, l.listWidth)...)
		} else {
			out = append(out, m.singleRow(i, l.listWidth, handles))
		}
	}
	return out[:min(len(out), l.listHeight)]
}

// bar returns the first cell of a hit's rows, which marks the selected hit.
func (m *Model) bar(i int) string {
	if i == m.selected {
		return accent("▌")
	}
	return " "
}

func (m *Model) name(i int, handle string) string {
	if i == m.selected {
		return bold(handle)
	}
	return handle
}

// singleRow renders a hit in one row.
func (m *Model) singleRow(i, width, handles int) string {
	h := m.result.Hits[i]
	head := m.bar(i) + m.name(i, fit(h.Handle, handles)) + " " + kind(fit(string(h.Kind), 7)) + " "
	if width >= 2*minWidth+handles {
		head += faint(fit(age(m.opt.Now(), h.Time), 10)) + " "
	}
	if h.Related {
		head += faint("≈ ")
	}
	text, marks := recall.Snippet(h.Text, m.result.Terms, max(width-ansi.StringWidth(head)-1, 0))
	return clip(head+marked(text, marks), width)
}

// multiRow renders a hit in hitRows rows.
func (m *Model) multiRow(i, width int) []string {
	h := m.result.Hits[i]
	right := age(m.opt.Now(), h.Time)
	if m.all {
		right = clip(text.Visible(h.Project), 24) + " · " + right
	}
	if h.Related {
		right = "≈ related · " + right
	}
	head := m.bar(i) + m.name(i, h.Handle) + " " + kind(string(h.Kind))
	rows := []string{ends(head, faint(right), width)}
	body, _ := recall.Snippet(h.Text, m.result.Terms, (hitRows-1)*(width-4))
	lines := wrapped(body, width-3)
	for n := range hitRows - 1 {
		line := lineAt(lines, n)
		if n == hitRows-2 && len(lines) > hitRows-1 {
			line = clip(strings.Join(lines[n:], ""), width-3)
		}
		rows = append(rows, m.bar(i)+" "+marked(line, recall.Marks(line, m.result.Terms)))
	}
	return rows
}
