package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain text", "as it is\nover lines", "as it is\nover lines"},
		{"other scripts", "日本語 naïve 🙂", "日本語 naïve 🙂"},
		{"tabs become blanks", "a\tb", "a b"},
		{"carriage returns and bells", "a\r\nb\x07\x00", "a\nb"},
		{"colours", "\x1b[1;31mred\x1b[0m", "red"},
		{"a sequence without its end", "\x1b[12", "12"},
		{"another escape", "\x1b(B", "(B"},
		{"one that never ends", "\x1b[" + "1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1m", "1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1m"},
		{"characters that reorder text", "\u202eevil\u202c \u2066x\u2069", "evil x"},
		{"invisible characters", "pass\u200bword\ufeff\u200e\u200f", "password"},
		{"broken bytes", "a\xff\xfeb", "ab"},
		{"a replacement character that was written", "a\ufffdb", "a\ufffdb"},
		{"delete and C1 controls", "a\x7fb\u0085c", "abc"},
	} {
		if got := Clean(c.text); got != c.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

func TestCleanLine(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "  x  ": "x", "a  b": "a b", "a\n\n b\tc": "a b c", "a b": "a b", "日本　語": "日本 語", "a\u00a0b": "a b", "\x1b[0m": "",
	} {
		if got := CleanLine(text); got != want {
			t.Errorf("CleanLine(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b[31mred\x1b[0m \u202e\u200b\x00\xff\ttab\nline")
	f.Add("\x1b[")
	f.Fuzz(func(t *testing.T, s string) {
		c := Clean(s)
		if !utf8.ValidString(c) || Clean(c) != c {
			t.Fatalf("Clean(%q) = %q", s, c)
		}
		if one := CleanLine(s); strings.ContainsAny(one, "\n\t\x1b") || strings.Contains(one, "  ") {
			t.Fatalf("CleanLine(%q) = %q", s, one)
		}
	})
}

// Comparing eight bytes at a time gives the same prefix as byte by byte.
func TestFlatPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom([]rune("abcXYZ!~ \x7f\t\x1f\u00e9")), 0, 40, -1).Draw(t, "s")
		n := flatPrefix(s)
		for i := range n {
			if s[i] < ' ' || s[i] >= 0x7f || s[i] == ' ' && i+1 < len(s) && s[i+1] == ' ' {
				t.Fatalf("%q is not flat at %d of %d", s, i, n)
			}
		}
		plain := 0
		for plain < len(s) && s[plain] >= ' ' && s[plain] < 0x7f && (s[plain] != ' ' || plain+1 == len(s) || s[plain+1] != ' ') {
			plain++
		}
		if n < plain-plain%8-9 {
			t.Fatalf("%q is flat for %d bytes, found %d", s, plain, n)
		}
	})
}
