package text

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"
)

func TestEscapeTerminal(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain text":                            {"make it wait\n\tlonger", "make it wait\n\tlonger"},
		"other scripts":                         {"支払い 😀 naïve עברית", "支払い 😀 naïve עברית"},
		"accepted colours":                      {"\x1b[1mbold\x1b[0m \x1b[1;33mhit\x1b[0m", "\x1b[1mbold\x1b[0m \x1b[1;33mhit\x1b[0m"},
		"other colours":                         {"\x1b[38;5;196mred\x1b[48;2;0;0;0m on black\x1b[m", "red on black"},
		"hidden text":                           {"\x1b[8mrm -rf\x1b[28m", "rm -rf"},
		"clear the screen":                      {"a\x1b[2J\x1b[Hb", "a^[[2J^[[Hb"},
		"rename the window":                     {"\x1b]0;owned\x07", "^[]0;owned^G"},
		"write the clipboard":                   {"\x1b]52;c;cm0gLXJm\x1b\\", "^[]52;c;cm0gLXJm^[\\"},
		"a link":                                {"\x1b]8;;http://evil\x1b\\here\x1b]8;;\x1b\\", "^[]8;;http://evil^[\\here^[]8;;^[\\"},
		"report the cursor":                     {"\x1b[6n", "^[[6n"},
		"8-bit sequences":                       {"\u009b2Ja\u0090q\u009c", "<U+009B>2Ja<U+0090>q<U+009C>"},
		"raw 8-bit bytes":                       {"a\x9b2J", `a\x9b2J`},
		"invalid UTF-8":                         {"a\xffb", `a\xffb`},
		"overwriting a line":                    {"safe\rrm -rf", "safe^Mrm -rf"},
		"Windows line ends":                     {"a\r\nb\r\n", "a\nb\n"},
		"backspace and bell":                    {"a\bb\a", "a^Hb^G"},
		"delete":                                {"a\x7f", "a^?"},
		"a NUL byte":                            {"a\x00b", "a^@b"},
		"reversed text":                         {"a\u202etxt.exe\u2066x\u2069", "a<U+202E>txt.exe<U+2066>x<U+2069>"},
		"Unicode line and paragraph separators": {"a\u2028b\u2029", "a<U+2028>b<U+2029>"},
		"invisible letters":                     {"a\U000e0041b", "a<U+E0041>b"},
		"an unfinished sequence":                {"\x1b[31", "^[[31"},
		"an escape at the end":                  {"a\x1b", "a^["},
		"empty":                                 {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := EscapeTerminal(c.in, ours); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got, want := Visible(c.in), EscapeTerminal(c.want, func(string) bool { return false }); got != want {
				t.Errorf("without colours: got %q, want %q", got, want)
			}
		})
	}
}

func FuzzEscapeTerminal(f *testing.F) {
	f.Add("plain\x1b[31mred\x1b[0m\x1b]0;x\x07\r\n\t\xff\u202e\u009b")
	f.Fuzz(func(t *testing.T, in string) {
		got := EscapeTerminal(in, ours)
		rest := got
		for {
			i := strings.IndexByte(rest, 0x1b)
			if i < 0 {
				break
			}
			params, ok := sgrParams(rest[i:])
			if !ok || !ours(params) {
				t.Fatalf("%q lets %q through", in, got)
			}
			rest = rest[i+1:]
		}
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' && r != 0x1b || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%q lets %q through", in, got)
			}
		}
		if EscapeTerminal(got, ours) != got || strings.Contains(Visible(in), "\x1b") {
			t.Fatalf("%q changes again: %q", in, got)
		}
	})
}

func TestTerminalWriterReportsLength(t *testing.T) {
	var out strings.Builder
	n, err := TerminalWriter{&out, ours}.Write([]byte("a\x1b[2Jb"))
	if n != 6 || err != nil || out.String() != "a^[[2Jb" {
		t.Errorf("%d, %v, %q", n, err, out.String())
	}
	if _, err := (TerminalWriter{failing{}, ours}).Write([]byte("a")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// ours keeps bold and the colour of a match.
func ours(params string) bool { return params == "0" || params == "1" || params == "1;33" }
