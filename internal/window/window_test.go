package window

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
		"a large window":                          {"claude-opus-5-5", 0, nil, Limits{1_000_000, 967_000, 977_000}},
		"a model nobody knows":                    {"other", 0, nil, Limits{1_000_000, 967_000, 977_000}},
		"a small window is not watched":           {"claude-haiku-4-5-20251001", 0, nil, Limits{200_000, 0, 177_000}},
		"unless it is set":                        {"claude-haiku-4-5-20251001", 0, env{set: "200000"}, Limits{200_000, 167_000, 177_000}},
		"a share alone does not set it":           {"claude-sonnet-4-6", 0, env{percent: "50"}, Limits{200_000, 0, 177_000}},
		"the large form of a small model":         {"claude-sonnet-4-5[1m]", 0, nil, Limits{1_000_000, 967_000, 977_000}},
		"a longer number is another model":        {"claude-opus-4-50", 0, nil, Limits{1_000_000, 967_000, 977_000}},
		"a lower window":                          {"claude-opus-5-5", 0, env{set: "150k"}, Limits{150_000, 117_000, 127_000}},
		"no lower than the client allows":         {"claude-opus-5-5", 0, env{set: "50000"}, Limits{100_000, 67_000, 77_000}},
		"no higher than the model's":              {"claude-opus-4-6", 0, env{set: "1m"}, Limits{200_000, 167_000, 177_000}},
		"no window":                               {"claude-opus-5-5", 0, env{set: "wide"}, Limits{1_000_000, 967_000, 977_000}},
		"the large window is switched off":        {"claude-opus-5-5", 0, env{no1M: "1"}, Limits{200_000, 167_000, 177_000}},
		"a share":                                 {"claude-opus-5-5", 0, env{percent: "50"}, Limits{1_000_000, 490_000, 977_000}},
		"a share that is above the threshold":     {"claude-opus-5-5", 0, env{percent: "99.9"}, Limits{1_000_000, 967_000, 977_000}},
		"a share that is none":                    {"claude-opus-5-5", 0, env{percent: "-1"}, Limits{1_000_000, 967_000, 977_000}},
		"the client tells it":                     {"claude-opus-5-5", 300_000, nil, Limits{300_000, 267_000, 277_000}},
		"the client tells what the model has":     {"claude-haiku-4-5", 200_000, nil, Limits{200_000, 0, 177_000}},
		"the client tells more than there is":     {"claude-haiku-4-5", 1 << 40, nil, Limits{200_000, 0, 177_000}},
		"a window that leaves room for nothing":   {"claude-opus-5-5", 10, nil, Limits{10, 0, 0}},
		"a number that does not fit, or negative": {"claude-opus-5-5", -1, env{set: "9999999999m"}, Limits{1_000_000, 967_000, 977_000}},
	} {
		if got := Find(c.model, c.told, func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
