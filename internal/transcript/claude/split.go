package claude

import (
	"strings"
	"unicode/utf8"

	"strandline/internal/archive"
)

// split cuts text into pieces of at most archive.MaxPassage bytes, if possible
// between paragraphs, else lines, else words, and never inside a rune. No byte
// but white space at a cut is lost.
func split(text string) []string {
	var pieces []string
	for len(text) > archive.MaxPassage {
		at := cutPoint(text, archive.MaxPassage)
		if piece := strings.TrimRight(text[:at], " \t\r\n"); piece != "" {
			pieces = append(pieces, piece)
		}
		text = strings.TrimLeft(text[at:], "\r\n")
	}
	if strings.TrimSpace(text) != "" {
		pieces = append(pieces, text)
	}
	return pieces
}

// cutPoint returns the best offset in (0, n] to cut text at; the last quarter is
// searched for a paragraph's end, a line's end and a space, in this order.
func cutPoint(text string, n int) int {
	from := n * 3 / 4
	window := text[from:n]
	for _, mark := range []string{"\n\n", "\n", " "} {
		if at := strings.LastIndex(window, mark); at >= 0 {
			return from + at + len(mark)
		}
	}
	for n > 1 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// The sizes of an excerpt in bytes.
const (
	excerptHead   = 600
	excerptTail   = 300
	excerptErrors = 500
	excerptWhole  = excerptHead + excerptErrors + excerptTail
)

// excerpt returns text whole if it has at most whole bytes, else its head, its
// lines that tell of an error if errors is set, and its tail.
func excerpt(text string, whole int, errors bool) (string, bool) {
	if len(text) <= whole {
		return text, false
	}
	headSize, tailSize := min(excerptHead, whole*3/5), min(excerptTail, whole/4)
	if whole > 2*excerptWhole {
		headSize, tailSize = whole*2/3, whole/4
	}
	head := text[:lineCut(text, headSize)]
	tail := text[lineAfter(text, len(text)-tailSize):]
	var b strings.Builder
	b.Grow(whole + 16)
	b.WriteString(strings.TrimRight(head, "\n"))
	b.WriteString("\n…\n")
	if errors {
		middle := text[len(head) : len(text)-len(tail)]
		if found := errorLines(middle, excerptErrors); found != "" {
			b.WriteString(found)
			b.WriteString("…\n")
		}
	}
	b.WriteString(strings.TrimLeft(tail, "\n"))
	return b.String(), true
}

// lineCut returns the offset of a cut at or before n, behind a line's end if one
// is near, at a rune's start else.
func lineCut(text string, n int) int {
	if at := strings.LastIndexByte(text[n/2:n], '\n'); at >= 0 {
		return n/2 + at + 1
	}
	return len(clipBytes(text, n))
}

// lineAfter returns the offset of a cut at or behind n, at a line's start if one
// is near, at a rune's start else.
func lineAfter(text string, n int) int {
	if at := strings.IndexByte(text[n:n+(len(text)-n)/2], '\n'); at >= 0 {
		return n + at + 1
	}
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return n
}
