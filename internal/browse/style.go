package browse

import (
	"fmt"
	"image/color"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"strandline/internal/recall"
)

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
