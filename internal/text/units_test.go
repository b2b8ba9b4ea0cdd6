package text_test

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"strandline/internal/text"
)

func TestUnits(t *testing.T) {
	tests := []struct {
		name, body string
		want       int
	}{
		{"empty", "", 0},
		{"ascii", "abc", 3},
		{"two bytes, one unit", "éé", 2},
		{"three bytes, one unit", "…", 1},
		{"outside the basic plane, two units", "😀", 2},
		{"joined emoji", "👩‍💻", 5},
		{"an invalid byte becomes one replacement character", "a\xffb", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := text.Units(tt.body); got != tt.want {
				t.Errorf("Units(%q) = %d, want %d", tt.body, got, tt.want)
			}
		})
	}
}

func TestUnitsCountAsUTF16Does(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		if got, want := text.Units(s), len(utf16.Encode([]rune(s))); got != want {
			t.Errorf("Units(%q) = %d, UTF-16 has %d", s, got, want)
		}
	})
}

func TestTruncate(t *testing.T) {
	tests := []struct {
		name, body string
		units      int
		want       string
	}{
		{"fits", "abc", 3, "abc"},
		{"fits, more bytes than units", "ééé", 3, "ééé"},
		{"one too long", "abcd", 3, "ab…"},
		{"only the ellipsis", "abcd", 1, "…"},
		{"nothing", "abcd", 0, ""},
		{"negative", "abcd", -1, ""},
		{"empty", "", 0, ""},
		{"never half an emoji", "a😀b", 3, "a…"},
		{"whole emoji", "a😀bc", 4, "a😀…"},
		{"emoji that fits exactly", "a😀", 3, "a😀"},
		{"no blank before the ellipsis", "one two", 5, "one…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := text.Truncate(tt.body, tt.units); got != tt.want {
				t.Errorf("Truncate(%q, %d) = %q, want %q", tt.body, tt.units, got, tt.want)
			}
		})
	}
}

func TestTruncateLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		n := rapid.IntRange(0, 40).Draw(t, "units")
		got := text.Truncate(s, n)
		if text.Units(got) > n {
			t.Errorf("Truncate(%q, %d) = %q has %d units", s, n, got, text.Units(got))
		}
		if text.Units(s) <= n && got != s {
			t.Errorf("Truncate(%q, %d) = %q changes a text that fits", s, n, got)
		}
		if !utf8.ValidString(got) {
			t.Errorf("Truncate(%q, %d) = %q breaks a character", s, n, got)
		}
		if !strings.HasPrefix(s, strings.TrimSuffix(got, "…")) {
			t.Errorf("Truncate(%q, %d) = %q is not a prefix", s, n, got)
		}
	})
}

func TestTokens(t *testing.T) {
	for s, want := range map[string]int{"": 0, "a": 1, "1234567": 2, "12345678": 3, "払い": 2, "a\xff1234567": 4} {
		if got := text.Tokens(s); got != want {
			t.Errorf("Tokens(%q) = %d, want %d", s, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		n := rapid.IntRange(0, 20).Draw(t, "tokens")
		got := text.TokenPrefix(s, n)
		if !strings.HasPrefix(s, got) || text.Tokens(got) > n || text.Tokens(s) <= n && got != s {
			t.Errorf("TokenPrefix(%q, %d) = %q", s, n, got)
		}
	})
}

func TestPrefix(t *testing.T) {
	for n, want := range map[int]string{-1: "", 0: "", 1: "a", 2: "a", 3: "aé", 4: "aéb", 9: "aéb"} {
		if got := text.Prefix("aéb", n); got != want {
			t.Errorf("Prefix(%d) = %q, want %q", n, got, want)
		}
	}
}
