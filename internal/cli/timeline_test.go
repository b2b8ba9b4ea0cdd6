package cli

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSparkline(t *testing.T) {
	for want, c := range map[string]struct {
		points []int64
		width  int
	}{
		"▁▃▅█":     {[]int64{0, 25, 50, 100}, 10},
		"▃█":       {[]int64{0, 25, 50, 100}, 2},
		"█":        {[]int64{7}, 10},
		"▁▁":       {[]int64{0, 0}, 10},
		"█▁▅":      {[]int64{100, 10, 50}, 3},
		"▁▁▁▁▁▁▁█": {[]int64{1, 1, 1, 1, 1, 1, 1, 1_000_000}, 80},
	} {
		if got := sparkline(c.points, c.width); got != want {
			t.Errorf("%v in %d: %s, want %s", c.points, c.width, got, want)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		points := rapid.SliceOfN(rapid.Int64Range(0, 1<<40), 1, 300).Draw(r, "points")
		width := rapid.IntRange(-5, 200).Draw(r, "width")
		if n := utf8.RuneCountInString(sparkline(points, width)); n > max(width, 1) || n == 0 {
			r.Fatalf("%d characters in %d", n, width)
		}
	})
}
