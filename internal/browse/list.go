package browse

import (
	"fmt"
	"image/color"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
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

// rowStart returns the first cell of a hit's rows and its handle. They mark the selected
// hit.
func (m *Model) rowStart(i int, handle string) (bar, name string) {
	if i == m.selected {
		return accent("▌"), bold(handle)
	}
	return " ", handle
}

// singleRow renders a hit in one row.
func (m *Model) singleRow(i, width, handles int) string {
	h := m.result.Hits[i]
	bar, name := m.rowStart(i, fit(h.Handle, handles))
	head := bar + name + " " + kind(fit(string(h.Kind), 7)) + " "
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
	bar, name := m.rowStart(i, h.Handle)
	head := bar + name + " " + kind(string(h.Kind))
	rows := []string{ends(head, faint(right), width)}
	body, _ := recall.Snippet(h.Text, m.result.Terms, (hitRows-1)*(width-4))
	lines := wrapped(body, width-3)
	for n := range hitRows - 1 {
		line := lineAt(lines, n)
		if n == hitRows-2 && len(lines) > hitRows-1 {
			line = clip(strings.Join(lines[n:], ""), width-3)
		}
		rows = append(rows, bar+" "+marked(line, recall.Marks(line, m.result.Terms)))
	}
	return rows
}

// Colours are the terminal's sixteen, which follow its theme. Bubble Tea drops
// them if NO_COLOR is set.

func bold(s string) string   { return lipgloss.NewStyle().Bold(true).Render(s) }
func faint(s string) string  { return lipgloss.NewStyle().Faint(true).Render(s) }
func kind(s string) string   { return coloured(lipgloss.Cyan, s) }
func danger(s string) string { return coloured(lipgloss.Red, s) }
func accent(s string) string {
	return lipgloss.NewStyle().Foreground(lipgloss.Cyan).Bold(true).Render(s)
}

func coloured(c color.Color, s string) string { return lipgloss.NewStyle().Foreground(c).Render(s) }

// marked highlights the marks in a text.
func marked(s string, marks []recall.Mark) string {
	style := lipgloss.NewStyle().Foreground(lipgloss.Yellow).Bold(true)
	return recall.Highlight(s, marks, func(s string) string { return style.Render(s) })
}

// clip shortens a line to width cells, with an ellipsis.
func clip(s string, width int) string { return ansi.Truncate(s, max(width, 0), "…") }

// fit cuts or pads a line to width cells.
func fit(s string, width int) string {
	s = clip(s, width)
	return s + strings.Repeat(" ", max(width-ansi.StringWidth(s), 0))
}

// ends aligns two texts at the ends of a line. The right one is dropped if it does
// not fit.
func ends(left, right string, width int) string {
	gap := width - ansi.StringWidth(left) - ansi.StringWidth(right)
	if gap < 1 {
		return clip(left, width)
	}
	return left + strings.Repeat(" ", gap) + right
}

// age renders the time since t in few cells, as a date after 100 days.
func age(now, t time.Time) string {
	const day = 24 * time.Hour
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return "-"
	case d < 0, d >= 100*day:
		return t.In(now.Location()).Format(time.DateOnly)
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < day:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d d", d/day)
}

// wrapped breaks a text's lines at width cells, between words if possible. All
// characters are kept, including blanks.
func wrapped(text string, width int) []string {
	width = max(width, 2) // a character has at most two cells
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) <= width { // a character has at most as many cells as bytes
			out = append(out, line)
			continue
		}
		row, cells := 0, 0 // the row's start and width
		blank := -1        // index after the row's last blank
		for at := 0; at < len(line); {
			cluster, w := ansi.FirstGraphemeCluster(line[at:], ansi.GraphemeWidth)
			for cells+w > width && at > row {
				end := at
				if blank > row {
					end = blank
				}
				out = append(out, line[row:end])
				cells = ansi.StringWidth(line[end:at])
				row, blank = end, -1
			}
			cells += w
			at += len(cluster)
			if cluster == " " {
				blank = at
			}
		}
		out = append(out, line[row:])
	}
	return out
}
