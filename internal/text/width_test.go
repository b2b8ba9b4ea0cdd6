package text_test

import (
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"

	"strandline/internal/text"
)

func TestCells(t *testing.T) {
	for in, want := range map[string]int{
		"":                    0,
		"abc":                 3,
		"naïve":               5,
		"nai\u0308ve":         5, // a combining mark
		"支払い":                 6,
		"재시도":                 6,
		"ｗｉｄｅ":                8,
		"ﾊﾝｶｸ":                4, // half-width
		"Привет":              6,
		"😀":                   2,
		"👍🏽":                  2, // with a skin tone
		"👩‍👩‍👧":               2, // a family is one emoji
		"❤":                   1,
		"❤️":                  2, // emoji presentation
		"🇩🇪":                  2, // a flag is two regional indicators
		"a\u200bb":            2,
		"…·—":                 3, // ambiguous width counts as narrow
		"█░":                  2,
		"\x1b":                0,
		"\x1b[1;31mred\x1b[m": 3,
		"(╯°□°)╯︵ ┻━┻":        13,
		"e\u0301\u0302\u20dd": 1,
	} {
		if got := text.Cells(in); got != want {
			t.Errorf("Cells(%q) = %d, want %d", in, got, want)
		}
	}
}

func TestTruncateCells(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		n    int
		want string
	}{
		"fits":                     {"abc", 3, "abc"},
		"one too long":             {"abcd", 3, "ab…"},
		"one column":               {"abcd", 1, "…"},
		"no column":                {"abcd", 0, ""},
		"negative":                 {"abcd", -4, ""},
		"empty":                    {"", 0, ""},
		"wide fits":                {"支払い", 6, "支払い"},
		"wide, at a boundary":      {"支払い", 5, "支払…"},
		"wide, within a character": {"支払い", 4, "支…"},
		"combining mark":           {"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		"before an emoji sequence": {"ab👩‍👧cd", 3, "ab…"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := text.TruncateCells(c.in, c.n); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTruncateCellsLimit(t *testing.T) {
	check := func(s string, n uint8) bool {
		width := int(n % 40)
		got := text.TruncateCells(s, width)
		return text.Cells(got) <= width && (got == s || got == "" || strings.HasSuffix(got, "…")) && (!utf8.ValidString(s) || utf8.ValidString(got))
	}
	if err := quick.Check(check, nil); err != nil {
		t.Error(err)
	}
}
