package times

import (
	"slices"
	"time"
)

// Sample holds measurements of one quantity.
type Sample []time.Duration

// Quantile returns the q-quantile, 0 for an empty sample.
func (s Sample) Quantile(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// Median returns the middle measurement.
func (s Sample) Median() time.Duration { return s.Quantile(0.5) }

// Times are the measurements of one process, run over and over.
type Times struct {
	Wall Sample // elapsed time
	CPU  Sample // user and system time, which other load hardly changes

	Faults []int64 // page faults
}

// Add adds a run.
func (t *Times) Add(r Result) {
	t.Wall, t.CPU = append(t.Wall, r.Took), append(t.CPU, r.CPU)
	t.Faults = append(t.Faults, r.Faults)
}

// Ratio returns how many times the median of s is that of t.
func (s Sample) Ratio(t Sample) float64 {
	if t.Median() == 0 {
		return 0
	}
	return float64(s.Median()) / float64(t.Median())
}
