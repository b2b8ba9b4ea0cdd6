package codex

import "testing"

func TestWindow(t *testing.T) {
	for rows, want := range map[string]int64{
		"": 0,
		`{"payload":{"info":{"model_context_window":258400}}}` + "\n" + `{"payload":{"info":{"model_context_window":121600},"rate_limits":null}}`: 121600,
		`{"text":"\"model_context_window\":5 is what it says"}`:                                                                                   0,
		`{"model_context_window":null}`:                 0,
		`{"model_context_window":99`:                    0,
		`{"model_context_window":99999999999999999999}`: 0,
	} {
		if got, at := window([]byte(rows)); got != want || at != want/19*18 {
			t.Errorf("%s: %d and %d, want %d", rows, got, at, want)
		}
	}
}
