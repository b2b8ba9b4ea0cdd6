package usage_test

import (
	"math"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/config"
	"strandline/internal/usage"
)

func TestPrices(t *testing.T) {
	own := map[string]config.Price{"local-model": {Input: 1, Output: 2}, "haiku-5-5": {Input: 3, Output: 3, CacheRead: 3, CacheWrite: 3}}
	million := archive.Usage{Input: 1e6, Output: 1e6, CacheRead: 1e6, CacheWrite: 1e6}
	for _, c := range []struct {
		model string
		own   map[string]config.Price
		long  bool
		want  float64 // of a million tokens of each kind, negative: unknown
	}{
		{model: "claude-opus-5-5", want: 4 + 20 + 0.2 + 5},
		{model: "claude-opus-5", want: 5 + 25 + 0.5 + 6.25},
		{model: "claude-opus-5-9", want: -1},
		{model: "claude-opus-4-20250514", want: 15 + 75 + 1.5 + 18.75},
		{model: "claude-opus-4-6[1m]", want: 5 + 25 + 0.5 + 6.25},
		{model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0", want: 3 + 15 + 0.3 + 3.75},
		{model: "claude-3-haiku-20240307", want: 0.25 + 1.25 + 0.03 + 0.3},
		{model: "claude-haiku-5-5", want: 0.1 + 0.5 + 0.01 + 0.125},
		{model: "claude-haiku-5-5", long: true, want: 0.5 + 2.5 + 0.05 + 0.625},
		{model: "claude-haiku-5-5", long: true, own: own, want: 12},
		{model: "local-model", want: -1},
		{model: "local-model", own: own, want: 1 + 2 + 1.25},
	} {
		got, ok := usage.NewPrices(c.own).USD(c.model, c.long, million)
		if ok != (c.want >= 0) || ok && math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s, long %v: %v (%v), want %v", c.model, c.long, got, ok, c.want)
		}
	}
}
