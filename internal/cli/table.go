package cli

import (
	"fmt"
	"io"
	"strandline/internal/text"
	"strings"
)

// table prints columns as wide as their content; the last one takes what is left
// of the terminal's width.
type table struct {
	head  []string
	right []bool
	rows  [][]string
	// wrapped continues a text of the last column below, where it would be cut
	// otherwise.
	wrapped bool
	// paths says that the last column holds paths, which are cut at their start.
	paths bool
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
	minFirst  = 20 // cells that the first column keeps when room is short: a handle
	minColumn = 10 // cells that another one keeps
	lastShare = 3  // the last column gets this part of the line, if it needs it
)

// write prints the table for a terminal of the given width.
func (t *table) write(w io.Writer, width int) error {
	widths := t.widths(width)
	last := len(widths) - 1
	var b strings.Builder
	for _, row := range append([][]string{t.head}, t.rows...) {
		var ends []string
		switch {
		case t.wrapped:
			ends = wrap(row[last], widths[last])
		case t.paths:
			ends = []string{cutStart(row[last], widths[last])}
		default:
			ends = []string{text.TruncateCells(row[last], widths[last])}
		}
		for n, end := range ends {
			line := make([]string, 0, len(row))
			for i, c := range row[:last] {
				if n > 0 {
					c = ""
				}
				line = append(line, pad(text.TruncateCells(c, widths[i]), widths[i], t.right[i]))
			}
			line = append(line, end)
			b.WriteString(strings.TrimRight(strings.Join(line, gap), " ") + "\n")
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return cannotPrint(err)
	}
	return nil
}

// widths shares the width of a terminal among the columns. Where room is short,
// the widest text in the middle gives way, then the first column; numbers do not.
func (t *table) widths(width int) []int {
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], text.Cells(c))
		}
	}
	last := len(widths) - 1
	room := width - len(gap)*last
	for _, n := range widths[:last] {
		room -= n
	}
	for ; room < min(widths[last], width/lastShare); room++ {
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
	widths[last] = max(room, minColumn)
	return widths
}

// wrap breaks a text into lines of at most n cells, between words where it can.
func wrap(s string, n int) []string {
	lines := flow(strings.Fields(s), n)
	for i := range lines {
		lines[i] = text.TruncateCells(lines[i], n)
	}
	return lines
}

// flow puts words into lines of at most n cells. A word that takes more, such as a
// path, stays whole, so that it can be copied.
func flow(words []string, n int) []string {
	lines := []string{""}
	for _, word := range words {
		line := &lines[len(lines)-1]
		switch {
		case *line == "":
			*line = word
		case text.Cells(*line)+1+text.Cells(word) <= n:
			*line += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// phrases are the words of a text; a command in backquotes is one.
func phrases(s string) []string {
	var list []string
	open := false
	for word := range strings.FieldsSeq(s) {
		if open {
			list[len(list)-1] += " " + word
		} else {
			list = append(list, word)
		}
		if strings.Count(word, "`")%2 == 1 {
			open = !open
		}
	}
	if open { // a backquote without another
		return strings.Fields(s)
	}
	return list
}

// hang prints a text behind a head of so many cells. On a terminal that is so
// many columns wide, 0 for none, it goes on below itself and not at the left edge;
// style colours each of its lines.
func hang(w io.Writer, columns int, head string, indent int, text string, style func(string) string) {
	lines := []string{text}
	if columns > 2*indent {
		lines = flow(phrases(text), columns-indent)
	}
	for _, line := range lines {
		fmt.Fprintf(w, "%s%s\n", head, style(line))
		head = strings.Repeat(" ", indent)
	}
}

// columns is the width of the terminal that a stream is, 0 if it is none.
func (a *commands) columns(stream io.Writer) int {
	n, ok := a.env.Terminal(stream)
	if !ok {
		return 0
	}
	return n
}

func plain(s string) string { return s }

// defaultWidth is used where the output is no terminal: nothing is cut that a
// script might want.
const defaultWidth = 400

func (a *commands) width() int {
	if w, ok := a.env.Terminal(a.env.Stdout); ok && w > 0 {
		return w
	}
	return defaultWidth
}
