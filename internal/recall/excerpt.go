package recall

import (
	"slices"
	"strings"

	"strandline/internal/text"
)

// Signed marks the lines of an edit as removed or added.
func Signed(body string) string {
	sign := "+ "
	var b strings.Builder
	for line := range strings.Lines(body) {
		switch strings.TrimRight(line, "\n") {
		case "--- old":
			sign = "- "
		case "+++ new":
			sign = "+ "
		default:
			b.WriteString(sign + line)
		}
	}
	return b.String()
}

// Excerpt returns the lines of a text with most of its marks, without blank lines and the
// indentation that they share after their first sign bytes: as many as fill rows rows of
// width cells. A line longer than the rows that are left is shortened to the part with marks.
func Excerpt(s string, marksIn func(string) []Mark, sign, width, rows int) (out []string) {
	lines := strings.Split(text.Visible(strings.ReplaceAll(s, "\t", "  ")), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return len(strings.TrimSpace(l)) <= sign/2 })
	lines = lines[mostMarks(lines, marksIn, width, rows):]
	indent := -1
	for _, l := range lines[:min(rows, len(lines))] {
		if n := len(l) - sign - len(strings.TrimLeft(l[sign:], " ")); indent < 0 || n < indent {
			indent = n
		}
	}
	left := rows
	for _, l := range lines {
		if left <= 0 {
			break
		}
		l = l[:sign] + strings.TrimRight(l[min(sign+indent, len(l)):], " ")
		if text.Cells(l) > width {
			l, _ = SnippetOf(l, marksIn, left*width)
		}
		out = append(out, l)
		left -= rowsOf(l, width)
	}
	return out
}

// mostMarks returns the first of the lines that fill rows rows and have most distinct marks.
func mostMarks(lines []string, marksIn func(string) []Mark, width, rows int) (first int) {
	marked := make([][]string, len(lines))
	for i, l := range lines {
		for _, m := range marksIn(l) {
			marked[i] = append(marked[i], strings.ToLower(l[m.From:m.To]))
		}
	}
	most := 0
	for i := range lines {
		words := map[string]bool{}
		for at, left := i, rows; at < len(lines) && left > 0 && len(marked[i]) > 0; at++ {
			for _, w := range marked[at] {
				words[w] = true
			}
			left -= rowsOf(lines[at], width)
		}
		if len(words) > most {
			first, most = i, len(words)
		}
	}
	for _, l := range lines[min(first, len(lines)):] {
		rows -= rowsOf(l, width)
	}
	for first > 0 && rows >= rowsOf(lines[first-1], width) { // the end leaves rows free
		first--
		rows -= rowsOf(lines[first], width)
	}
	return first
}

// rowsOf returns how many rows of width cells a line takes.
func rowsOf(line string, width int) int { return 1 + max(text.Cells(line)-1, 0)/max(width, 1) }
