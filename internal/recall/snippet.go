package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"strandline/internal/archive"
)

// Mark is a part of a snippet that matched, in byte offsets.
type Mark struct{ From, To int }

// Snippet returns the part of text, on one line and at most width characters
// long, that shows most of the terms, and where they stand in it. An ellipsis
// marks where text was left out; a width below minSnippet shows the beginning.
func Snippet(text string, ts []archive.Term, width int) (string, []Mark) {
	text = printable(text)
	if width <= 0 || text == "" {
		return "", nil
	}
	marks := Marks(text, ts)
	if utf8.RuneCountInString(text) <= width {
		return text, marks
	}
	if width < minSnippet {
		return text[:forward(text, 0, width)], nil
	}
	from, to := window(text, marks, width)
	var b strings.Builder
	shift := -from
	if from > 0 {
		b.WriteString("…")
		shift += len("…")
	}
	b.WriteString(text[from:to])
	if to < len(text) {
		b.WriteString("…")
	}
	out := marks[:0]
	for _, m := range marks {
		if m.From >= from && m.To <= to {
			out = append(out, Mark{m.From + shift, m.To + shift})
		}
	}
	return b.String(), out
}

// minSnippet is the least width in characters that leaves room for a word
// between two ellipses.
const minSnippet = 8

// printable puts text on one line and drops what a terminal would act on.
func printable(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case r == 0x1b:
			size = escapeLen(text[i:])
		case unicode.IsControl(r), r == utf8.RuneError, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// escapeLen is the length of the terminal sequence at the beginning of s.
func escapeLen(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return 1
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 {
			return i + 1
		}
	}
	return len(s)
}

// Marks returns where terms stand in text, in order and without overlap. A term
// stands where a word or a part of one begins with it.
func Marks(text string, ts []archive.Term) []Mark {
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		return nil // a letter changed its length, so offsets would not hold
	}
	var marks []Mark
	for i := 0; i < len(text); {
		n := 0
		if startsWord(text, i) {
			for _, t := range ts {
				if len(t.Text) > n && strings.HasPrefix(lower[i:], t.Text) {
					n = len(t.Text)
				}
			}
		}
		if n == 0 {
			_, n = utf8.DecodeRuneInString(text[i:])
			i += n
			continue
		}
		marks = append(marks, Mark{i, i + n})
		i += n
	}
	return marks
}

// startsWord reports whether a word, or a part of a compound, begins at i.
func startsWord(s string, i int) bool {
	if i == 0 {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	at, _ := utf8.DecodeRuneInString(s[i:])
	if !unicode.IsLetter(before) && !unicode.IsDigit(before) {
		return true
	}
	return unicode.IsUpper(at) && !unicode.IsUpper(before) || unicode.IsDigit(at) != unicode.IsDigit(before) || at >= 0x2e80
}

// window chooses the part of text that holds the most different marks, with a
// little of what stands before the first of them. Both ends lie between
// characters; with the ellipses the part has at most width characters.
func window(text string, marks []Mark, width int) (from, to int) {
	room := max(width-2, 1)
	best, bestFrom := 0, 0
	for i, m := range marks {
		end := forward(text, m.From, room)
		words := map[string]bool{}
		for _, n := range marks[i:] {
			if n.To > end {
				break
			}
			words[strings.ToLower(text[n.From:n.To])] = true
		}
		if len(words) > best {
			best, bestFrom = len(words), m.From
		}
	}
	from = backward(text, bestFrom, room/5)
	if to = forward(text, from, room); to == len(text) {
		from = min(from, backward(text, to, room))
	}
	if at := strings.IndexByte(text[from:bestFrom], ' '); from > 0 && at >= 0 {
		from += at + 1 // begin with a word
	}
	return from, to
}

// forward and backward return the offset n characters away from at.
func forward(s string, at, n int) int {
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

func backward(s string, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return at
}

// Highlight puts on and off around the marks of a snippet.
func Highlight(s string, marks []Mark, on, off string) string {
	var b strings.Builder
	done := 0
	for _, m := range marks {
		if m.From < done || m.To > len(s) {
			continue
		}
		b.WriteString(s[done:m.From] + on + s[m.From:m.To] + off)
		done = m.To
	}
	b.WriteString(s[done:])
	return b.String()
}
