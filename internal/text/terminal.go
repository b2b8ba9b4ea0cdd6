package text

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// TerminalWriter applies EscapeTerminal to the bytes written to W. Each Write must
// contain whole characters and whole escape sequences.
//
// Transcripts hold the output of programs and web pages: sequences in them that
// move the cursor, rename the window or write the clipboard must not take effect.
type TerminalWriter struct {
	W io.Writer
	// Keep reports whether to print a colour sequence. params are its parameters, such
	// as "1;33". Nil is invalid.
	Keep func(params string) bool
}

// Write implements io.Writer.
func (w TerminalWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.W, EscapeTerminal(string(p), w.Keep)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Visible returns s with control characters escaped and colours removed.
func Visible(s string) string { return EscapeTerminal(s, func(string) bool { return false }) }

// EscapeTerminal replaces every control character that a terminal would act on by
// a visible form ("^[", "<U+202E>"), and invalid UTF-8 by "\xff". It keeps newlines,
// tabs and the colours that keep accepts. It removes other colours, which are common
// in program output, and the CR of a CRLF.
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
			fmt.Fprintf(&b, `\x%02x`, s[i]) // invalid UTF-8
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"): // removed
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
			b.WriteByte('^') // caret notation: ^A is 0x01, ^? is 0x7f
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

// EscapeJSON replaces the control characters that an encoder of JSON leaves in strings
// by their escapes, which does not change the values.
func EscapeJSON(s string) string {
	if !strings.ContainsFunc(s, isControl) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for _, r := range s {
		switch hi, lo := utf16.EncodeRune(r); {
		case !isControl(r):
			b.WriteRune(r)
		case hi != utf8.RuneError:
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// isControl reports whether a terminal acts on r instead of showing it: control
// characters, bidirectional controls, line separators and invisible tag characters.
// Newline and tab are not included.
func isControl(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' ||
		unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029 || r >= 0xe0000 && r <= 0xe007f
}

// sgrParams returns the parameters of the colour sequence (SGR) at the start of s.
// ok is false if there is none.
func sgrParams(s string) (params string, ok bool) {
	rest, ok := strings.CutPrefix(s, "\x1b[")
	if !ok {
		return "", false
	}
	n := len(rest) - len(strings.TrimLeft(rest, "0123456789;:"))
	return rest[:n], strings.HasPrefix(rest[n:], "m")
}

// EscapeLen returns the length in bytes of the escape sequence at the start of s: 5
// for "\x1b[31m", 0 if there is none. It returns 1, the escape character alone, if the
// sequence is incomplete, longer than 32 bytes, or does not begin with "\x1b[".
func EscapeLen(s string) int {
	const longest = 32 // bytes; longer than any sequence in use
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
