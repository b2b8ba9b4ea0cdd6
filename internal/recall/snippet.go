package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Mark is a matching part of a text, in byte offsets.
type Mark struct{ From, To int }

// Snippet returns the part of a text that contains most of the terms, on one line and
// at most width characters long, and the terms in it. An ellipsis marks omissions. With
// a width below minSnippet it returns the start of the text.
func Snippet(s string, ts []archive.Term, width int) (string, []Mark) {
	return SnippetOf(s, func(s string) []Mark { return Marks(s, ts) }, width)
}

// Snippet is the function Snippet for the words that the hits were matched with.
func (r *Result) Snippet(s string, width int) (string, []Mark) { return SnippetOf(s, r.Marks, width) }

// Marks returns the parts of a text that the query matches, in order and without overlap.
func (r *Result) Marks(text string) (marks []Mark) {
	if r.pattern == nil {
		return Marks(text, r.Terms)
	}
	for _, at := range r.pattern.FindAllStringIndex(text, -1) {
		if at[1] > at[0] {
			marks = append(marks, Mark{at[0], at[1]})
		}
	}
	return marks
}

// SnippetOf is the function Snippet with the marks that marksIn returns.
func SnippetOf(s string, marksIn func(string) []Mark, width int) (string, []Mark) {
	s = text.CleanLine(s)
	if width <= 0 || s == "" {
		return "", nil
	}
	marks := marksIn(s)
	if utf8.RuneCountInString(s) <= width {
		return s, marks
	}
	if width < minSnippet {
		return s[:skipRunes(s, 0, width)], nil
	}
	from, to := bestPart(s, marks, width)
	part, shift := s[from:to], -from
	if from > 0 {
		part = "…" + part
		shift += len("…")
	}
	if to < len(s) {
		part += "…"
	}
	out := marks[:0]
	for _, m := range marks {
		if m.From >= from && m.From < to {
			out = append(out, Mark{m.From + shift, min(m.To, to) + shift})
		}
	}
	return part, out
}

// minSnippet is the least width in characters for a word between two ellipses.
const minSnippet = 8

// Marks returns the terms in a text, in order and without overlap. A term matches at
// the start of a word or of a part of a compound.
func Marks(text string, ts []archive.Term) []Mark {
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		return nil // the offsets would differ
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
		if n > 0 {
			marks = append(marks, Mark{i, i + n})
		} else {
			_, n = utf8.DecodeRuneInString(text[i:])
		}
		i += n
	}
	return marks
}

// startsWord reports whether a word, or a part of a compound, starts at i.
func startsWord(s string, i int) bool {
	if i == 0 {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	at, _ := utf8.DecodeRuneInString(s[i:])
	return !unicode.IsLetter(before) && !unicode.IsDigit(before) ||
		unicode.IsUpper(at) && !unicode.IsUpper(before) || unicode.IsDigit(at) != unicode.IsDigit(before) || at >= 0x2e80
}

// bestPart returns the part of text with the most distinct marks, and some text before
// the first of them. With the ellipses it has at most width characters.
func bestPart(text string, marks []Mark, width int) (from, to int) {
	size := max(width-2, 1)
	best, bestFrom := 0, 0
	for i, m := range marks {
		end := skipRunes(text, m.From, size)
		words := map[string]bool{}
		for k, n := range marks[i:] {
			if n.To > end && k > 0 {
				break
			}
			words[strings.ToLower(text[n.From:n.To])] = true
		}
		if len(words) > best {
			best, bestFrom = len(words), m.From
		}
	}
	from = skipRunes(text, bestFrom, -size/5)
	if to = skipRunes(text, from, size); to == len(text) {
		from = min(from, skipRunes(text, to, -size))
	}
	if at := strings.IndexByte(text[from:bestFrom], ' '); from > 0 && at >= 0 {
		from += at + 1 // start with a word
	}
	return from, to
}

// skipRunes returns the offset n characters after at, or before it if n is negative.
func skipRunes(s string, at, n int) int {
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	for ; n < 0 && at > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return at
}

// Highlight styles the marks of a snippet.
func Highlight(s string, marks []Mark, style func(string) string) string {
	var b strings.Builder
	done := 0
	for _, m := range marks {
		if m.From < done || m.To > len(s) {
			continue
		}
		b.WriteString(s[done:m.From] + style(s[m.From:m.To]))
		done = m.To
	}
	b.WriteString(s[done:])
	return b.String()
}
