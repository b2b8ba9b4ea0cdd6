package cli

import (
	"fmt"
	"strings"

	"strandline/internal/app"
)

// printMemory prints the memory's health and what it is the mean of.
func (a *commands) printMemory(st app.Status) {
	p, m, columns := a.paint(), st.Memory, a.columns(a.env.Stdout)
	if m.Health == nil {
		return
	}
	fmt.Fprintf(a.out, "%s %s %s\n", p.dim(fmt.Sprintf("%-11s", "memory")), bar(*m.Health), p.bold(percent(*m.Health)))
	line := func(name string, share *float64, good bool, text string) {
		value := "   –"
		if share != nil {
			value = fmt.Sprintf("%4s", percent(*share))
		}
		style := plain
		if !good {
			style = p.yellow
		}
		hang(a.out, columns, p.dim(fmt.Sprintf("  %-9s", name))+" "+value+"  ", 18, text, style)
	}
	if st.Uncaptured > 0 {
		line("captured", m.Captured, false, app.UncapturedText(st.Uncaptured)+": `strandline import` adds the rest")
	} else {
		line("captured", m.Captured, true, "everything that the client has on disk is kept")
	}
	switch {
	case st.Unindexed > 0:
		line("indexed", m.Indexed, false, app.UnindexedText(st.Unindexed)+": `strandline maintain` indexes the rest")
	default:
		line("indexed", m.Indexed, m.Indexed == nil || *m.Indexed > 0.99, "of what is kept can be searched")
	}
	switch {
	case m.Embedded == nil: // nobody has begun: words find everything
	case *m.Embedded > 0.99:
		line("embedded", m.Embedded, true, "of the passages can be found by meaning")
	default:
		line("embedded", m.Embedded, true, "of the passages can be found by meaning: `strandline maintain` does the rest")
	}
	used := "of what compactions gave back: none is measured yet"
	if m.Used != nil {
		used = "of what " + count(m.Measured, "compaction") + " gave back was used afterwards"
	}
	line("used", m.Used, true, used)
}

// bar draws a share from 0 to 1 in ten cells.
func bar(share float64) string {
	const cells = 10
	full := int(share*cells + 0.5)
	return strings.Repeat("█", full) + strings.Repeat("░", cells-full)
}
