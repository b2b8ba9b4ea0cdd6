package cli

import (
	"strings"

	"strandline/internal/text"
)

// broken breaks a text into at most lines rows of n cells, behind a blank where a
// row would not stay half empty; what does not fit is cut.
func broken(s string, n, lines int) []string {
	var out []string
	for len(out) < lines-1 && text.Cells(s) > n && n > 1 {
		end := text.PrefixCells(s, n)
		if blank := strings.LastIndexByte(s[:end], ' '); blank > end/2 && s[end] != ' ' {
			end = blank
		}
		out = append(out, strings.TrimRight(s[:end], " "))
		s = strings.TrimLeft(s[end:], " ")
	}
	return append(out, text.TruncateCells(s, n))
}

// cutStart shortens a text to at most n cells and keeps its end, where paths
// differ.
func cutStart(s string, n int) string {
	if text.Cells(s) <= n {
		return s
	}
	for i := range s {
		if text.Cells(s[i:]) <= n-1 {
			return "…" + s[i:]
		}
	}
	return text.TruncateCells("…", n)
}

// pad fills a text up to n cells with blanks, in front of it if right is set.
func pad(s string, n int, right bool) string {
	blanks := strings.Repeat(" ", max(n-text.Cells(s), 0))
	if right {
		return blanks + s
	}
	return s + blanks
}
