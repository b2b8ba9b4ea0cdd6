package compact

import "testing"

func TestInstructions(t *testing.T) {
	for name, c := range map[string]struct {
		asked, line string
		want        float64
	}{
		"no instructions":                    {"", "harbour_07.toml", 0},
		"only stop words":                    {"please keep everything important!", "please keep everything important", 0},
		"a name":                             {"Mind harbour_07.toml.", "see (harbour_07.toml)", instructionValue},
		"another name":                       {"Mind harbour_07.toml.", "see harbour_08.toml", 0},
		"a word, in any form":                {"focus on the discount", "Discounts are rounded", instructionValue},
		"a name counts for three":            {"discount 0042_codes.sql", "run 0042_codes.sql", instructionValue * 3.0 / 4},
		"the same word twice is one":         {"discount, Discount", "a discount", instructionValue},
		"other scripts":                      {"決済クライアント", "決済クライアントを直す", instructionValue},
		"punctuation and control characters": {"\x1b[1m ... -- \x00", "-- ...", 0},
	} {
		if got := parseInstructions(c.asked).match(c.line); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
