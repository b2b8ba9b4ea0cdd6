package usage

import "testing"

func TestFindLimits(t *testing.T) {
	t.Parallel()
	type env = map[string]string
	const (
		set     = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
		percent = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"
		no1M    = "CLAUDE_CODE_DISABLE_1M_CONTEXT"
	)
	for name, c := range map[string]struct {
		model    string
		reported int
		env      env
		want     Limits
	}{
		"a large window":                        {"claude-opus-5-5", 0, nil, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"an unknown model":                      {"other", 0, nil, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"a small window is not watched":         {"claude-haiku-4-5-20251001", 0, nil, Limits{Window: 200_000, Hard: 177_000}},
		"a small window with a setting":         {"claude-haiku-4-5-20251001", 0, env{set: "200000"}, Limits{Window: 200_000, Threshold: 167_000, Hard: 177_000}},
		"a percentage alone":                    {"claude-sonnet-4-6", 0, env{percent: "50"}, Limits{Window: 200_000, Hard: 177_000}},
		"the large form of a small model":       {"claude-sonnet-4-5[1m]", 0, nil, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"a longer number is another model":      {"claude-opus-4-50", 0, nil, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"a lower window":                        {"claude-opus-5-5", 0, env{set: "150k"}, Limits{Window: 150_000, Threshold: 117_000, Hard: 127_000}},
		"below the client's minimum":            {"claude-opus-5-5", 0, env{set: "50000"}, Limits{Window: 100_000, Threshold: 67_000, Hard: 77_000}},
		"above the model's window":              {"claude-opus-4-6", 0, env{set: "1m"}, Limits{Window: 200_000, Threshold: 167_000, Hard: 177_000}},
		"an invalid window":                     {"claude-opus-5-5", 0, env{set: "wide"}, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"the large window is disabled":          {"claude-opus-5-5", 0, env{no1M: "1"}, Limits{Window: 200_000, Threshold: 167_000, Hard: 177_000}},
		"a percentage":                          {"claude-opus-5-5", 0, env{percent: "50"}, Limits{Window: 1_000_000, Threshold: 490_000, Hard: 977_000}},
		"a percentage above the threshold":      {"claude-opus-5-5", 0, env{percent: "99.9"}, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"an invalid percentage":                 {"claude-opus-5-5", 0, env{percent: "-1"}, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"reported by the client":                {"claude-opus-5-5", 300_000, nil, Limits{Window: 300_000, Threshold: 267_000, Hard: 277_000}},
		"the client reports the model's window": {"claude-haiku-4-5", 200_000, nil, Limits{Window: 200_000, Hard: 177_000}},
		"the client reports a larger window":    {"claude-haiku-4-5", 1_000_000, nil, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"the client reports a smaller window":   {"claude-opus-5-5", 200_000, nil, Limits{Window: 200_000, Threshold: 167_000, Hard: 177_000}},
		"automatic compaction is disabled":      {"claude-opus-5-5", 0, env{"DISABLE_AUTO_COMPACT": "1"}, Limits{Window: 1_000_000, Hard: 977_000, Off: true}},
		"compaction is disabled":                {"claude-opus-5-5", 0, env{"DISABLE_COMPACT": "true", percent: "50"}, Limits{Window: 1_000_000, Hard: 977_000, Off: true}},
		"a switch set to 0":                     {"claude-opus-5-5", 0, env{"DISABLE_AUTO_COMPACT": "0"}, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
		"the client reports an invalid window":  {"claude-haiku-4-5", 1 << 40, nil, Limits{Window: 200_000, Hard: 177_000}},
		"a window below the reserves":           {"claude-opus-5-5", 10, nil, Limits{Window: 10, Hard: 0}},
		"an overflow and a negative number":     {"claude-opus-5-5", -1, env{set: "9999999999m"}, Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}},
	} {
		if got := FindLimits(c.model, c.reported, func(name string) string { return c.env[name] }); got != c.want {
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
		"a watched window":    {Limits{Window: 1_000_000, Threshold: 967_000, Hard: 977_000}, 967_000, true},
		"an unwatched window": {Limits{Window: 200_000, Hard: 177_000}, 200_000, true},
		"disabled":            {Limits{Window: 200_000, Hard: 177_000, Off: true}, 177_000, false},
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
			t.Errorf("%d tokens: %d, want %d", tokens, got, want)
		}
	}
}
