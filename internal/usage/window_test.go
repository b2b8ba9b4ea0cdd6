package usage

import "testing"

func TestFind(t *testing.T) {
	t.Parallel()
	type env = map[string]string
	const (
		set     = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
		percent = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"
		no1M    = "CLAUDE_CODE_DISABLE_1M_CONTEXT"
	)
	for name, c := range map[string]struct {
		model string
		told  int
		env   env
		want  Limits
	}{
		"a large window":                          {"claude-opus-5-5", 0, nil, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"a model nobody knows":                    {"other", 0, nil, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"a small window is not watched":           {"claude-haiku-4-5-20251001", 0, nil, Limits{Window: 200_000, Hard: 177_000}},
		"unless it is set":                        {"claude-haiku-4-5-20251001", 0, env{set: "200000"}, Limits{Window: 200_000, Threshold: 167_000, Hard: 177_000}},
		"a share alone does not set it":           {"claude-sonnet-4-6", 0, env{percent: "50"}, Limits{Window: 200_000, Hard: 177_000}},
		"the large form of a small model":         {"claude-sonnet-4-5[1m]", 0, nil, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"a longer number is another model":        {"claude-opus-4-50", 0, nil, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"a lower window":                          {"claude-opus-5-5", 0, env{set: "150k"}, Limits{Window: 150_000, Threshold: 117_000, Hard: 127_000}},
		"no lower than the client allows":         {"claude-opus-5-5", 0, env{set: "50000"}, Limits{Window: 100_000, Threshold: 67_000, Hard: 77_000}},
		"no higher than the model's":              {"claude-opus-4-6", 0, env{set: "1m"}, Limits{Window: 200_000, Threshold: 167_000, Hard: 177_000}},
		"no window":                               {"claude-opus-5-5", 0, env{set: "wide"}, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"the large window is switched off":        {"claude-opus-5-5", 0, env{no1M: "1"}, Limits{Window: 200_000, Threshold: 167_000, Hard: 177_000}},
		"a share":                                 {"claude-opus-5-5", 0, env{percent: "50"}, Limits{Window: 1_000_000, Threshold: 490_000, Hard: 977_000}},
		"a share that is above the threshold":     {"claude-opus-5-5", 0, env{percent: "99.9"}, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"a share that is none":                    {"claude-opus-5-5", 0, env{percent: "-1"}, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"the client tells it":                     {"claude-opus-5-5", 300_000, nil, Limits{Window: 300_000, Threshold: 267_000, Hard: 277_000}},
		"the client tells what the model has":     {"claude-haiku-4-5", 200_000, nil, Limits{Window: 200_000, Hard: 177_000}},
		"the client tells of a larger one":        {"claude-haiku-4-5", 1_000_000, nil, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"the client tells of a smaller one":       {"claude-opus-5-5", 200_000, nil, Limits{Window: 200_000, Threshold: 167_000, Hard: 177_000}},
		"nothing is done by itself":               {"claude-opus-5-5", 0, env{"DISABLE_AUTO_COMPACT": "1"}, Limits{Window: 1_000_000, Hard: 977_000, Off: true}},
		"nothing is done at all":                  {"claude-opus-5-5", 0, env{"DISABLE_COMPACT": "true", percent: "50"}, Limits{Window: 1_000_000, Hard: 977_000, Off: true}},
		"a switch that is off":                    {"claude-opus-5-5", 0, env{"DISABLE_AUTO_COMPACT": "0"}, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"the client tells more than there is":     {"claude-haiku-4-5", 1 << 40, nil, Limits{Window: 200_000, Hard: 177_000}},
		"a window that leaves room for nothing":   {"claude-opus-5-5", 10, nil, Limits{Window: 10, Hard: 0}},
		"a number that does not fit, or negative": {"claude-opus-5-5", -1, env{set: "9999999999m"}, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
	} {
		if got := FindLimits(c.model, c.told, func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits   Limits
		at       int
		compacts bool
	}{
		"a watched window":        {Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}, 967_000, true},
		"one that nobody watches": {Limits{Window: 200_000, Hard: 177_000}, 200_000, true},
		"switched off":            {Limits{Window: 200_000, Hard: 177_000, Off: true}, 177_000, false},
	} {
		if at, compacts := c.limits.Next(); at != c.at || compacts != c.compacts {
			t.Errorf("%s: %d, %v", name, at, compacts)
		}
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]bool{
		"claude-opus-5-5": true, "claude-haiku-4-5-20251001": true, "us.anthropic.claude-sonnet-5-v1:0": true, "claude-fable-5-2": true,
		"other[1m]": true, "other": false, "": false, "<synthetic>": false, "opus-": false, "opus-next": false,
	} {
		if knownModel(model) != want {
			t.Errorf("%q is known: %v", model, !want)
		}
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	for tokens, want := range map[int64]int64{0: 200_000, 200_000: 200_000, 200_001: 1_000_000, 1_000_001: 1_000_001} {
		if got := fitWindow(tokens); got != want {
			t.Errorf("%d fits into %d, want %d", tokens, got, want)
		}
	}
}
