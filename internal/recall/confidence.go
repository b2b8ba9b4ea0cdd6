package recall

import (
	"cmp"
	"slices"
	"time"

	"strandline/internal/archive"
)

// Confidence computes how likely a place of the archive still matters: it decays with
// time and grows when the place is given to the model. The value is computed from
// facts and stored nowhere, so that a rebuilt index gives the same one. It is a prior
// of the ranking and one of two conditions for leaving the hot tier, never a filter.
type Confidence struct {
	PerHour float64 // loss per hour, down to Minimum
	Minimum float64
	Shown   float64 // gain when the place is restored or recalled, up to FullConfidence
	Used    float64 // gain when restored content is used afterwards
}

// FullConfidence is the confidence of a new place, and the maximum.
const FullConfidence = 1.0

// DefaultConfidence returns the parameters of earlier systems, with twice the gain for
// content that was used. The decay to the minimum takes 180 hours.
func DefaultConfidence() Confidence { return ConfidenceWithDecay(0.005) }

// ConfidenceWithDecay returns the default parameters with another loss per hour.
func ConfidenceWithDecay(perHour float64) Confidence {
	return Confidence{PerHour: perHour, Minimum: 0.1, Shown: 0.03, Used: 0.06}
}

// At returns the confidence at the time now of a place created at another. accesses are
// the place's, in any order. An access before created counts as if at created, one after
// now is ignored. Time that runs backwards does not change the confidence.
func (c Confidence) At(created time.Time, accesses []archive.Access, now time.Time) float64 {
	value, last := FullConfidence, created
	for _, a := range sortAccesses(accesses) {
		if a.Time.After(now) {
			break
		}
		value = c.decay(value, last, a.Time)
		if a.Time.After(last) {
			last = a.Time
		}
		gain := c.Shown
		if a.How == archive.AccessUsed {
			gain = c.Used
		}
		value = min(value+gain, FullConfidence)
	}
	return c.decay(value, last, now)
}

// TimeTo returns how long the confidence of a new place takes to decay to a value, and
// false if it never does.
func (c Confidence) TimeTo(value float64) (time.Duration, bool) {
	if value >= FullConfidence {
		return 0, true
	}
	if c.PerHour <= 0 || value < c.Minimum {
		return 0, false
	}
	return time.Duration((FullConfidence - value) / c.PerHour * float64(time.Hour)), true
}

// decay returns the rest of a value after the time between two moments.
func (c Confidence) decay(value float64, from, to time.Time) float64 {
	hours := max(to.Sub(from).Hours(), 0)
	return max(value-c.PerHour*hours, min(value, c.Minimum))
}

// sortAccesses sorts by time and then by kind, so that the result does not depend on
// the order of the facts.
func sortAccesses(as []archive.Access) []archive.Access {
	return slices.SortedFunc(slices.Values(as), func(a, b archive.Access) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.How, b.How))
	})
}
