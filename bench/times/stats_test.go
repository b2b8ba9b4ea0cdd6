package times

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestQuantiles(t *testing.T) {
	s := Sample{5, 1, 4, 2, 3}
	for q, want := range map[float64]time.Duration{0: 1, 0.1: 1, 0.5: 3, 0.9: 5, 1: 5} {
		if got := s.Quantile(q); got != want {
			t.Errorf("quantile %v is %d, want %d", q, got, want)
		}
	}
	if s[0] != 5 {
		t.Error("the sample was sorted in place")
	}
	if got := (Sample{}).Median(); got != 0 {
		t.Errorf("median of nothing is %d", got)
	}
	if got := s.Ratio(Sample{2}); got != 1.5 {
		t.Errorf("ratio %v, want 1.5", got)
	}
	if got := s.Ratio(nil); got != 0 {
		t.Errorf("ratio to nothing is %v", got)
	}
}

func TestReport(t *testing.T) {
	var r Report
	r.Add("a", "1 ms", "one run")
	r.AddGoal("b", "2 ms", "40 runs", "3 ms", true)
	r.AddGoal("c", "4 ms", "40 runs", "3 ms", false)
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := `| what | figure | goal | | measured |
|---|---:|---:|---|---|
| a | 1 ms |  |  | one run |
| b | 2 ms | 3 ms | reached | 40 runs |
| c | 4 ms | 3 ms | **missed** | 40 runs |
`
	if b.String() != want {
		t.Errorf("got\n%s, want\n%s", b.String(), want)
	}
	if r.Missed() != 1 {
		t.Errorf("%d missed", r.Missed())
	}
	if err := r.Write(full{}); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("got %v", err)
	}
}
