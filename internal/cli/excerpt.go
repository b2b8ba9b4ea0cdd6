package cli

import (
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/text"
)

// hitRows is the number of terminal rows of a hit's text.
const hitRows = 3

// hasHead reports whether the first line of a hit names its tool with the file or the
// command.
func hasHead(h recall.Hit) bool {
	return slices.Contains([]archive.PassageKind{archive.KindCommand, archive.KindEdit, archive.KindOutput}, h.Kind)
}

// headLine shortens the first line of a hit to width cells. A path in the project becomes
// relative, and is shortened at its start.
func headLine(h recall.Hit, head string, width int) string {
	if width < minColumn {
		return ""
	}
	for _, folder := range []string{h.Worktree, h.Root} {
		if folder != "" {
			head = strings.ReplaceAll(head, folder+"/", "")
		}
	}
	head = oneLine(head)
	tool, path, _ := strings.Cut(head, " ")
	path, rest, more := strings.Cut(path, " · ")
	if more {
		rest = " · " + rest
	}
	if left := width - text.Cells(tool) - 1 - text.Cells(rest); left >= minColumn && strings.Contains(path, "/") && !strings.Contains(path, " ") {
		return tool + " " + truncateStart(path, left) + rest
	}
	return text.TruncateCells(head, width)
}

// signed marks the lines of an edit as removed or added.
func signed(body string) string {
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

// excerptRows returns the lines of a text with most of its marks, without blank lines and
// the indentation that they share after their first sign bytes: at most rows rows of width
// cells. A line longer than a row takes several, and is shortened to the part with marks.
func excerptRows(s string, marksIn func(string) []recall.Mark, sign, width, rows int) (out []string) {
	lines := strings.Split(text.Visible(strings.ReplaceAll(s, "\t", "  ")), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return len(strings.TrimSpace(l)) <= sign/2 })
	lines = lines[mostMarks(lines, marksIn, width, rows):]
	indent := -1
	for _, l := range lines[:min(rows, len(lines))] {
		if n := len(l) - sign - len(strings.TrimLeft(l[sign:], " ")); indent < 0 || n < indent {
			indent = n
		}
	}
	for _, l := range lines {
		left := rows - len(out)
		if left == 0 {
			break
		}
		l = l[:sign] + strings.TrimRight(l[min(sign+indent, len(l)):], " ")
		if text.Cells(l) > width {
			l, _ = recall.SnippetOf(l, marksIn, left*width)
		}
		out = append(out, wrapCells(l, width, left)...)
	}
	return out
}

// mostMarks returns the first of the lines that fill rows rows and have most distinct marks.
func mostMarks(lines []string, marksIn func(string) []recall.Mark, width, rows int) (first int) {
	taken := func(line string) int { return 1 + max(text.Cells(line)-1, 0)/max(width, 1) } // rows
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
			left -= taken(lines[at])
		}
		if len(words) > most {
			first, most = i, len(words)
		}
	}
	for _, l := range lines[min(first, len(lines)):] {
		rows -= taken(l)
	}
	for first > 0 && rows >= taken(lines[first-1]) { // the end leaves rows free
		first--
		rows -= taken(lines[first])
	}
	return first
}
