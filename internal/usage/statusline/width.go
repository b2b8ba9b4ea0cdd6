package statusline

import (
	"strings"

	"strandline/internal/text"
)

// cells is how many columns a line takes. It knows colours and wide characters.
func cells(s string) int {
	n := 0
	for _, w := range widths(s) {
		n += w
	}
	return n
}

// clip cuts a line behind at most n columns. A colour that is left on is ended.
func clip(s string, n int) string {
	runes, all := []rune(s), widths(s)
	used, end := 0, len(runes)
	for i := range runes {
		if used += all[i]; used > n {
			end = i
			break
		}
	}
	out := strings.TrimRight(string(runes[:end]), " ")
	if end < len(runes) && strings.Contains(out, "\x1b[") {
		out += "\x1b[0m"
	}
	return out
}

// widths is the number of columns that each character of a line takes.
func widths(s string) []int {
	const (
		outside = iota
		escape
		sequence
	)
	var list []int
	state, last := outside, 0
	for _, r := range s {
		w := 1
		switch {
		case state == escape && r == '[':
			state, w = sequence, 0
		case state == sequence:
			if w = 0; r >= 0x40 && r <= 0x7e {
				state = outside
			}
		case r == 0x1b:
			state, w = escape, 0
		case r == 0xfe0f: // shows the character before it as an emoji, two wide
			w = max(2-last, 0)
		case r < 0x20, r == 0x200d, r >= 0x300 && r <= 0x36f:
			state, w = outside, 0
		case text.Wide(r):
			state, w = outside, 2
		default:
			state = outside
		}
		if w > 0 {
			last = w
		}
		list = append(list, w)
	}
	return list
}
