package hash

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"strandline/internal/embed"
)

// The components were computed by the formula in another language.
func TestFormula(t *testing.T) {
	for _, test := range []struct {
		text string
		dim  int
		want [4]float64 // the first three and the last
	}{
		{"auth optimization", 768, [4]float64{0.008590, 0.055377, 0.057327, 0.000102}},
		{"  Café 🎉 ", 384, [4]float64{0.011277, 0.000107, 0.015669, 0.023430}},
		{"", 384, [4]float64{0.051031, 0.051031, 0.051031, 0.051031}},
		{strings.Repeat("login broken ", 40), 768, [4]float64{0.017670, 0.039198, 0.049434, 0.058780}},
	} {
		e := New(test.dim)
		vs, err := e.Embed(t.Context(), []string{test.text})
		if err != nil {
			t.Fatal(err)
		}
		v := vs[0]
		if len(v) != e.Dim() {
			t.Fatalf("%d components", len(v))
		}
		for i, at := range []int{0, 1, 2, test.dim - 1} {
			if math.Abs(float64(v[at])-test.want[i]) > 2e-6 {
				t.Errorf("%.20q, component %d: %.6f, want %.6f", test.text, at, v[at], test.want[i])
			}
		}
	}
}

func TestNames(t *testing.T) {
	if a, b := New(768).Name(), New(384).Name(); a != "hash-768" || b != "hash-384" {
		t.Errorf("%s and %s", a, b)
	}
}

// Why it is never used for ranking: what means the same is no nearer than what
// means something else.
func TestRanksByChance(t *testing.T) {
	vs, err := New(768).Embed(t.Context(), []string{"login broken", "login broken!", "the tide table of march"})
	if err != nil {
		t.Fatal(err)
	}
	alike, unlike := embed.Cosine(vs[0], vs[1]), embed.Cosine(vs[0], vs[2])
	if math.Abs(alike-unlike) > 0.1 || alike < 0.5 {
		t.Errorf("alike %.3f, unlike %.3f: the formula has become better than it was", alike, unlike)
	}
}

func TestEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(384).Embed(ctx, []string{"text"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
