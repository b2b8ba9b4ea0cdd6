package cli

import (
	"fmt"
	"strings"

	"strandline/internal/gauge"
	"strandline/internal/lifecycle"
)

// memoryJSON is how well the archive remembers, for scripts: shares from 0 to 1,
// null where nothing can be said, and their mean.
type memoryJSON struct {
	Health   *float64 `json:"health"`
	Captured *float64 `json:"captured"`
	Indexed  *float64 `json:"indexed"`
	Embedded *float64 `json:"embedded"`
	Used     *float64 `json:"used"`
	// Measured counts the compactions that Used is of.
	Measured int `json:"measured_compactions"`
}

// toMemoryJSON is the memory's health for scripts.
func toMemoryJSON(h lifecycle.Found) memoryJSON {
	m := memoryJSON{
		Captured: shareOf(h.Captured), Indexed: shareOf(h.Indexed), Embedded: shareOf(h.Embedded), Used: shareOf(h.Used),
		Measured: h.Measured,
	}
	if mean, ok := h.Mean(); ok {
		m.Health = rounded(mean)
	}
	return m
}

func shareOf(s *gauge.Share) *float64 {
	v, ok := s.Value()
	if !ok {
		return nil
	}
	return rounded(v)
}

// printMemory prints the memory's health and what it is the mean of.
func (a *app) printMemory(st statusJSON) {
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
		line("captured", m.Captured, false, holdMore(st.Uncaptured)+": `strandline import` brings it in")
	} else {
		line("captured", m.Captured, true, "everything that the client has on disk is kept")
	}
	switch {
	case st.Unindexed > 0:
		line("indexed", m.Indexed, false, notIndexed(st.Unindexed)+": `strandline maintain` indexes the rest")
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
