package statusline

import (
	"strings"

	"strandline/internal/text"
)

// clip cuts a line to at most n columns and resets colours that are still set.
func clip(s string, n int) string {
	end := text.PrefixCells(s, n)
	out := strings.TrimRight(s[:end], " ")
	if end < len(s) && strings.Contains(out, "\x1b[") {
		out += "\x1b[0m"
	}
	return out
}
