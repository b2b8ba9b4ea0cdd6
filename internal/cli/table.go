package cli

import (
	"fmt"
	"io"
	"strings"
)

// table prints columns as wide as their content; the last one takes what is left
// of the terminal's width.
type table struct {
	head  []string
	right []bool
	rows  [][]string
}

// newTable takes the headings; one that begins with ">" aligns to the right.
func newTable(head ...string) *table {
	t := &table{}
	for _, h := range head {
		name, right := strings.CutPrefix(h, ">")
		t.head, t.right = append(t.head, name), append(t.right, right)
	}
	return t
}

// row adds a row; it has as many texts as there are headings.
func (t *table) row(texts ...string) {
	for i := range texts {
		texts[i] = oneLine(texts[i])
	}
	t.rows = append(t.rows, texts)
}

const (
	gap       = "  "
	minColumn = 10 // cells that a column keeps when room is short
	minLast   = 16 // cells that the last column should have
)

// write prints the table for a terminal of the given width. Where room is short,
// the widest of the texts in the middle are cut; the first column, which names
// the row, and numbers are not.
func (t *table) write(w io.Writer, width int) error {
	all := append([][]string{t.head}, t.rows...)
	widths := make([]int, len(t.head))
	for _, row := range all {
		for i, c := range row {
			widths[i] = max(widths[i], cells(c))
		}
	}
	last := len(widths) - 1
	used := func() int {
		n := len(gap) * last
		for _, w := range widths[:last] {
			n += w
		}
		return n
	}
	for used()+min(widths[last], minLast) > width {
		widest := -1
		for i := 1; i < last; i++ {
			if !t.right[i] && widths[i] > minColumn && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	widths[last] = max(width-used(), minColumn)
	var b strings.Builder
	for _, row := range all {
		line := make([]string, len(row))
		for i, c := range row {
			line[i] = pad(cut(c, widths[i]), widths[i], t.right[i])
		}
		b.WriteString(strings.TrimRight(strings.Join(line, gap), " ") + "\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// defaultWidth is used where the output is no terminal: nothing is cut that a
// script might want.
const defaultWidth = 400

func (a *app) width() int {
	if w, ok := a.env.Terminal(a.env.Stdout); ok && w > 0 {
		return w
	}
	return defaultWidth
}
