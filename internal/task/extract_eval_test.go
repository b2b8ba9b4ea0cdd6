package task_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestEvalExtract prints the compression of extracted summaries of finished segments of
// real sessions:
//
//	STRANDLINE_EVAL_DATA=FOLDER go test ./internal/task -run EvalExtract -v
func TestEvalExtract(t *testing.T) {
	dir := os.Getenv("STRANDLINE_EVAL_DATA")
	if dir == "" {
		t.Skip("STRANDLINE_EVAL_DATA names no folder of transcripts; summaries are not measured")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var ratios, sizes []float64
	before, after := 0, 0
	for _, path := range paths {
		_, p := realPast(t, path)
		for _, x := range p.Segments() {
			if x.Open() || x.End-x.Start < 3 {
				continue
			}
			s := p.Compress(x, noon())
			if os.Getenv("STRANDLINE_EVAL_SHOW") != "" {
				t.Logf("%s %s [%d,%d) %d -> %d tokens\n%s\n", s.Session[:8], s.ID, s.Start, s.End, s.OriginalTokens, s.CompressedTokens, s.Content)
			}
			ratios, sizes = append(ratios, 1-s.Ratio), append(sizes, float64(s.CompressedTokens))
			before, after = before+s.OriginalTokens, after+s.CompressedTokens
		}
	}
	slices.Sort(ratios)
	slices.Sort(sizes)
	at := func(xs []float64, share float64) float64 { return xs[int(share*float64(len(xs)-1))] }
	t.Logf("%d stretches, %d -> %d tokens; fewer tokens: median %.1f %%, p10 %.1f %%, p90 %.1f %%; a summary's tokens: median %.0f, p90 %.0f",
		len(ratios), before, after, 100*at(ratios, .5), 100*at(ratios, .1), 100*at(ratios, .9), at(sizes, .5), at(sizes, .9))
}
