package text

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TerminalWriter writes to a terminal and escapes every control sequence, except
// the colours that Keep accepts by their parameters, such as "1;33". A Write must
// not end within a character.
//
// Transcripts hold the output of programs and web pages: sequences in them that
// move the cursor, rename the window or write the clipboard must not take effect.
type TerminalWriter struct {
	W    io.Writer
	Keep func(params string) bool
}

// Write implements io.Writer.
func (w TerminalWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.W, EscapeTerminal(string(p), w.Keep)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Visible returns s safe to print on a terminal, without colours.
func Visible(s string) string { return EscapeTerminal(s, func(string) bool { return false }) }

// EscapeTerminal replaces every control character that a terminal would act on by
// a visible form ("^[", "<U+202E>"). It keeps line ends, tabs and the colours that
// keep accepts, and drops other colours, which are common in program output.
func EscapeTerminal(s string, keep func(params string) bool) string {
	if !strings.ContainsFunc(s, isControl) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"): // a Windows line end
		case r == 0x1b:
			if params, ok := sgrParams(s[i:]); ok {
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
		case isControl(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// isControl reports whether a terminal acts on r instead of showing it: control
// characters, and characters that reorder or hide the text around them.
func isControl(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' ||
		unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029 || r >= 0xe0000 && r <= 0xe007f
}

// sgrParams returns the parameters of the colour sequence (SGR) that s begins
// with.
func sgrParams(s string) (params string, ok bool) {
	rest, ok := strings.CutPrefix(s, "\x1b[")
	if !ok {
		return "", false
	}
	n := len(rest) - len(strings.TrimLeft(rest, "0123456789;:"))
	return rest[:n], strings.HasPrefix(rest[n:], "m")
}

// EscapeLen returns the length of the escape sequence that s begins with, such as
// the 5 bytes of a colour, and 0 if there is none. An incomplete or longer
// sequence than any in use counts as the escape character alone.
func EscapeLen(s string) int {
	const longest = 32
	if s == "" || s[0] != 0x1b {
		return 0
	}
	if strings.HasPrefix(s, "\x1b[") {
		for i := 2; i < min(len(s), longest); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
	}
	return 1
}
