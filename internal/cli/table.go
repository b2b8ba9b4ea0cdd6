package cli

import (
	"io"
	"strings"

	"strandline/internal/text"
)

// table prints columns as wide as their content. The last column takes the rest of
// the line.
type table struct {
	head  []string
	right []bool
	rows  [][]string
	// wrapped continues a long text of the last column on further lines.
	wrapped bool
	// cut shortens texts of the last column, at their end by default.
	cut func(s string, cells int) string
}

// newTable takes the headings; the table has no head if all are empty. A heading that begins
// with ">" aligns right.
func newTable(head ...string) *table {
	t := &table{cut: text.TruncateCells}
	for _, h := range head {
		name, right := strings.CutPrefix(h, ">")
		t.head, t.right = append(t.head, name), append(t.right, right)
	}
	return t
}

// row adds a row with one text for each heading. It keeps the indentation of a text.
func (t *table) row(texts ...string) {
	for i := range texts {
		texts[i] = texts[i][:len(texts[i])-len(strings.TrimLeft(texts[i], " "))] + oneLine(texts[i])
	}
	t.rows = append(t.rows, texts)
}

const (
	gap       = "  "
	minFirst  = 20 // minimum width of the first column, which holds handles
	minColumn = 10 // minimum width of another text column
	lastShare = 3  // the last column gets 1/lastShare of the line, if it needs it
)

// write prints the table for a terminal of the given width.
func (t *table) write(w io.Writer, width int) error {
	widths := t.widths(width)
	last := len(widths) - 1
	var b strings.Builder
	rows := append([][]string{t.head}, t.rows...)
	if strings.Join(t.head, "") == "" {
		rows = t.rows
	}
	for _, row := range rows {
		var ends []string
		switch {
		case t.wrapped:
			ends = wrap(row[last], widths[last])
		default:
			ends = []string{t.cut(row[last], widths[last])}
		}
		for n, end := range ends {
			line := make([]string, 0, len(row))
			for i, c := range row[:last] {
				if n > 0 {
					c = ""
				}
				line = append(line, pad(truncateMiddle(c, widths[i]), widths[i], t.right[i]))
			}
			line = append(line, end)
			b.WriteString(strings.TrimRight(strings.Join(line, gap), " ") + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// widths distributes the width of a terminal. If it is too small, the widest text
// column in the middle shrinks first, then the first column. Number columns keep
// their width.
func (t *table) widths(width int) []int {
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], text.Cells(c))
		}
	}
	last := len(widths) - 1
	rest := width - len(gap)*last
	for _, n := range widths[:last] {
		rest -= n
	}
	for ; rest < min(widths[last], width/lastShare); rest++ {
		widest := -1
		for i := 1; i < last; i++ {
			if !t.right[i] && widths[i] > minColumn && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 && widths[0] > minFirst {
			widest = 0
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	widths[last] = max(rest, minColumn)
	return widths
}
