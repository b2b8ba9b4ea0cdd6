package browse

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"strandline/internal/recall"
	"strandline/internal/text"
)

// list is the part of the hits that is shown.
func (m *Model) list(l layout) []string {
	hits := m.result.Hits
	handles := 0 // the widest handle
	for _, h := range hits {
		handles = max(handles, ansi.StringWidth(h.Handle))
	}
	handles = min(handles, l.listWidth/3)
	var out []string
	for i := m.top; i < len(hits) && len(out) < l.listHeight; i++ {
		if l.beside {
			out = append(out, m.tall(i, l.listWidth)...)
		} else {
			out = append(out, m.flat(i, l.listWidth, handles))
		}
	}
	return out[:min(len(out), l.listHeight)]
}

// bar stands before each row of a hit.
func (m *Model) bar(i int) string {
	if i == m.at {
		return accent("▌")
	}
	return " "
}

func (m *Model) name(i int, handle string) string {
	if i == m.at {
		return bold(handle)
	}
	return handle
}

// flat is a hit on one row.
func (m *Model) flat(i, width, handles int) string {
	h := m.result.Hits[i]
	head := m.bar(i) + m.name(i, fit(h.Handle, handles)) + " " + kind(fit(string(h.Kind), 7)) + " "
	if width >= 2*leastWidth+handles {
		head += faint(fit(age(m.opt.Now(), h.Time), 10)) + " "
	}
	if h.Related {
		head += faint("≈ ")
	}
	text, marks := recall.Snippet(h.Text, m.result.Terms, max(width-ansi.StringWidth(head)-1, 0))
	return cut(head+marked(text, marks), width)
}

// tall is a hit on hitRows rows.
func (m *Model) tall(i, width int) []string {
	h := m.result.Hits[i]
	right := age(m.opt.Now(), h.Time)
	if m.all {
		right = cut(text.Visible(h.Project), 24) + " · " + right
	}
	if h.Related {
		right = "≈ related · " + right
	}
	head := m.bar(i) + m.name(i, h.Handle) + " " + kind(string(h.Kind))
	rows := []string{ends(head, faint(right), width)}
	body, _ := recall.Snippet(h.Text, m.result.Terms, (hitRows-1)*(width-4))
	lines := wrapped(body, width-3)
	for n := range hitRows - 1 {
		line := at(lines, n)
		if n == hitRows-2 && len(lines) > hitRows-1 {
			line = cut(strings.Join(lines[n:], ""), width-3)
		}
		rows = append(rows, m.bar(i)+" "+marked(line, recall.Marks(line, m.result.Terms)))
	}
	return rows
}
