package browse

import (
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// line is a one-line text field.
type line struct {
	text []rune
	at   int // the cursor is before text[at]
}

func (l *line) String() string { return string(l.text) }

func (l *line) set(s string) {
	l.text, l.at = nil, 0
	l.insert(s)
}

// insert inserts s before the cursor, without line breaks and control characters.
func (l *line) insert(s string) {
	var clean []rune
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			clean = append(clean, ' ')
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == unicode.ReplacementChar:
		default:
			clean = append(clean, r)
		}
	}
	l.text = slices.Insert(l.text, l.at, clean...)
	l.at += len(clean)
}

// edit handles an editing key and reports whether key is one.
func (l *line) edit(key string) bool {
	switch key {
	case "left", "ctrl+b":
		l.at = max(l.at-1, 0)
	case "right", "ctrl+f":
		l.at = min(l.at+1, len(l.text))
	case "home", "ctrl+a":
		l.at = 0
	case "end", "ctrl+e":
		l.at = len(l.text)
	case "backspace":
		l.remove(max(l.at-1, 0), l.at)
	case "delete", "ctrl+d":
		l.remove(l.at, min(l.at+1, len(l.text)))
	case "ctrl+w", "alt+backspace":
		before := strings.TrimRight(string(l.text[:l.at]), " ")
		l.remove(len([]rune(before[:strings.LastIndexByte(before, ' ')+1])), l.at)
	case "ctrl+u":
		l.remove(0, l.at)
	default:
		return false
	}
	return true
}

func (l *line) remove(from, to int) { l.text, l.at = slices.Delete(l.text, from, to), from }

// view returns the part around the cursor that fits width cells, and the cursor's
// cell.
func (l *line) view(width int) (shown string, cursor int) {
	from := 0
	for ansi.StringWidth(string(l.text[from:l.at])) > max(width-1, 0) {
		from++
	}
	rest := strings.TrimPrefix(l.String(), string(l.text[:from]))
	return ansi.Truncate(rest, width, ""), ansi.StringWidth(string(l.text[from:l.at]))
}
