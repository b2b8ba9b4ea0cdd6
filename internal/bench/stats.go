package bench

import (
	"slices"
	"time"
)

// Sample is a number of measurements of one thing.
type Sample []time.Duration

// Quantile returns the measurement below which the share q of all lie, 0 of an
// empty sample.
func (s Sample) Quantile(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// Median returns the middle measurement.
func (s Sample) Median() time.Duration { return s.Quantile(0.5) }

// Ratio returns how many times the median of s is that of t.
func (s Sample) Ratio(t Sample) float64 {
	if t.Median() == 0 {
		return 0
	}
	return float64(s.Median()) / float64(t.Median())
}
