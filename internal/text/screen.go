// Package screen makes texts of transcripts fit for a terminal. They hold what
// programs and web pages printed; a sequence in them that moves the cursor,
// renames the window or writes the clipboard must not reach the terminal of
// whoever reads them.
package text

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Writer is a terminal that shows what it is given and obeys none of it, but for
// the colours that Keep accepts by their parameters ("1;33"). Each Write holds
// whole characters.
type Writer struct {
	W    io.Writer
	Keep func(params string) bool
}

// Write implements io.Writer.
func (w Writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.W, Escape(string(p), w.Keep)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Visible is a text of a transcript as a terminal may get it.
func Visible(s string) string { return Escape(s, func(string) bool { return false }) }

// Escape writes what a terminal would act on as text ("^[", "<U+202E>"). Line
// ends, tabs and the colours to keep stay; other colours are dropped, as the
// outputs of programs are full of them.
func Escape(s string, keep func(params string) bool) string {
	if !strings.ContainsFunc(s, acts) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"): // a line end as Windows writes it
		case r == 0x1b:
			if params, ok := colour(s[i:]); ok {
				size = len("\x1b[") + len(params) + len("m")
				if keep(params) {
					b.WriteString(s[i : i+size])
				}
				break
			}
			b.WriteString("^[")
		case r < 0x20 && r != '\n' && r != '\t', r == 0x7f:
			b.WriteByte('^')
			b.WriteRune(r ^ 0x40)
		case acts(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// acts reports that a terminal does something else with r than showing it:
// control characters, and those that reorder or hide the text around them.
func acts(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' ||
		unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029 || r >= 0xe0000 && r <= 0xe007f
}

// colour reads the parameters of a sequence that does no more than colour text.
func colour(s string) (params string, ok bool) {
	rest, ok := strings.CutPrefix(s, "\x1b[")
	if !ok {
		return "", false
	}
	n := len(rest) - len(strings.TrimLeft(rest, "0123456789;:"))
	return rest[:n], strings.HasPrefix(rest[n:], "m")
}
