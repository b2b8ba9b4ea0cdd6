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

// excerptRows returns the excerpt of a text as at most rows rows of width cells.
func excerptRows(s string, marksIn func(string) []recall.Mark, sign, width, rows int) (out []string) {
	for _, l := range recall.Excerpt(s, marksIn, sign, width, rows) {
		out = append(out, wrapCells(l, width, rows-len(out))...)
	}
	return out
}
