package usage_test

import (
	"cmp"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/transcript/claude"
	"strandline/internal/usage"
)

// stretches returns the points of a session, one per turn, split at compactions.
func stretches(t *testing.T, path string) (out [][]usage.Point) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := claude.NewReader(archive.Session{ID: "s"}, archive.Cursor{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Read(t.Context(), append(data, '\n'), nil)
	if err != nil {
		t.Fatal(err)
	}
	var now []usage.Point
	next := 0
	for _, s := range b.Steps {
		if s.Sidechain || s.APIError || s.Usage.Context() == 0 {
			continue
		}
		for next < len(b.Compactions) && b.Compactions[next].Line < s.LineFrom {
			next++
			out, now = append(out, now), nil
		}
		p := usage.Point{Turns: s.Turn, Tokens: s.Usage.Context()}
		if n := len(now); n > 0 && now[n-1].Turns == p.Turns {
			now[n-1] = p
		} else {
			now = append(now, p)
		}
	}
	return append(out, now)
}

// leastStretch is the least number of turns in an evaluated stretch.
const leastStretch = 6

// forecasts returns the error of the forecast at each turn before a stretch's peak:
// log2((forecast+1)/(truth+1)).
func forecasts(points []usage.Point, growth func([]usage.Point) float64) (off []float64) {
	if len(points) < leastStretch {
		return nil
	}
	peak := slices.MaxFunc(points, func(a, b usage.Point) int { return cmp.Compare(a.Tokens, b.Tokens) })
	for i, p := range points {
		if i < 2 || p.Turns >= peak.Turns {
			continue
		}
		if g := growth(points[:i+1]); g > 0 {
			left := math.Floor(float64(peak.Tokens-p.Tokens) / g)
			off = append(off, math.Log2((left+1)/float64(peak.Turns-p.Turns+1)))
		}
	}
	return off
}

func last(points []usage.Point, n int) []usage.Point { return points[max(len(points)-n, 0):] }

func increments(points []usage.Point) (out []float64) {
	for i := 1; i < len(points); i++ {
		out = append(out, float64(points[i].Tokens-points[i-1].Tokens)/float64(points[i].Turns-points[i-1].Turns))
	}
	return out
}

func median(xs []float64) float64 {
	xs = slices.Clone(xs)
	slices.Sort(xs)
	if n := len(xs); n%2 == 1 {
		return xs[n/2]
	} else if n > 0 {
		return (xs[n/2-1] + xs[n/2]) / 2
	}
	return 0
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(max(len(xs), 1))
}

// weighted is a value with a weight.
type weighted struct{ value, weight float64 }

// middle returns the weighted median.
func middle(xs []weighted) float64 {
	slices.SortFunc(xs, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	total, sum := 0.0, 0.0
	for _, x := range xs {
		total += x.weight
	}
	for _, x := range xs {
		if sum += x.weight; sum >= total/2 {
			return x.value
		}
	}
	return 0
}

// TestForecast prints the table of forecast errors in docs/usage.md.
func TestForecast(t *testing.T) {
	dir := os.Getenv("STRANDLINE_EVAL_DATA")
	if dir == "" {
		t.Skip("STRANDLINE_EVAL_DATA is not set to a folder of transcripts; the forecast is not measured")
	}
	var all [][]usage.Point
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".jsonl" && !strings.Contains(path, "subagents") {
			all = append(all, stretches(t, path)...)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range []struct {
		name   string
		growth func(p []usage.Point) float64
	}{
		{"Theil-Sen, 12 turns: the one in use", func(p []usage.Point) float64 { return float64(usage.Growth(p)) }},
		{"the same, 4 turns", func(p []usage.Point) float64 { return float64(usage.Growth(last(p, 4))) }},
		{"median of the increments, 12 turns", func(p []usage.Point) float64 { return median(increments(last(p, 12))) }},
		{"mean of the increments, 12 turns", func(p []usage.Point) float64 { return mean(increments(last(p, 12))) }},
		{"mean of median and mean, 20 turns", func(p []usage.Point) float64 {
			x := increments(last(p, 20))
			return (median(x) + mean(x)) / 2
		}},
	} {
		var errs []weighted
		var means, bias []float64
		for _, points := range all {
			off := forecasts(points, rule.growth)
			if len(off) == 0 {
				continue
			}
			bias = append(bias, mean(off))
			for i := range off {
				off[i] = math.Abs(off[i])
				errs = append(errs, weighted{off[i], 1 / float64(len(off))})
			}
			means = append(means, mean(off))
		}
		t.Logf("%-42s median %.2f mean %.2f bias %+.2f (%d forecasts in %d stretches)", rule.name, middle(errs), mean(means), mean(bias), len(errs), len(means))
	}
}
