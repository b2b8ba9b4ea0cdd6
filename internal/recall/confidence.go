// Package confidence says how sure one may be that a place of the archive still
// matters: it fades with time and grows when the place is given to the model.
//
// It is a value computed from facts and a time, and stored nowhere: computing it
// twice changes nothing twice, and a rebuilt index knows it. It is a prior of
// ranking and one of two conditions for leaving the hot set, never a filter.
package recall

import (
	"cmp"
	"slices"
	"time"

	"strandline/internal/archive"
)

// Confidence holds the numbers of the formula.
type Confidence struct {
	PerHour float64 // lost in an hour of real time, until Floor
	Floor   float64
	Shown   float64 // gained when the place is restored or recalled, up to 1
	Used    float64 // gained when what was restored is used afterwards
}

// FullConfidence is the confidence of what was just said, and the most there is.
const FullConfidence = 1.0

// DefaultConfidence is the rule of the systems that came before, with twice the gain for
// what turned out to be of use: from Start it is 180 hours to the floor.
func DefaultConfidence() Confidence {
	return Confidence{PerHour: 0.005, Floor: 0.1, Shown: 0.03, Used: 0.06}
}

// ConfidenceWithDecay is the default rule with another loss of confidence for each hour.
func ConfidenceWithDecay(perHour float64) Confidence {
	r := DefaultConfidence()
	r.PerHour = perHour
	return r
}

// At is the confidence at a time of a place that was written at another. The
// accesses are those of the place in any order; ones that are dated before
// created count as of then. Where the clock ran backwards no time has passed.
// Accesses later than now count nothing: they had not happened.
func (r Confidence) At(created time.Time, accesses []archive.Access, now time.Time) float64 {
	c, last := FullConfidence, created
	for _, a := range inOrder(accesses) {
		if a.Time.After(now) {
			break
		}
		c, last = r.fade(c, last, a.Time), later(last, a.Time)
		if a.How == archive.AccessUsed {
			c += r.Used
		} else {
			c += r.Shown
		}
		c = min(c, FullConfidence)
	}
	return r.fade(c, last, now)
}

// Fades returns how long it takes until the confidence of what nothing lifts has
// fallen to c; false for one that it never falls to.
func (r Confidence) Fades(c float64) (time.Duration, bool) {
	if c >= FullConfidence {
		return 0, true
	}
	if r.PerHour <= 0 || c < r.Floor {
		return 0, false
	}
	return time.Duration((FullConfidence - c) / r.PerHour * float64(time.Hour)), true
}

// fade is what is left of a confidence after the time from one moment to another.
func (r Confidence) fade(c float64, from, to time.Time) float64 {
	hours := max(to.Sub(from).Hours(), 0)
	return max(c-r.PerHour*hours, min(c, r.Floor))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// inOrder sorts by time and then by what happened, so that the result does not
// depend on the order in which facts were read.
func inOrder(as []archive.Access) []archive.Access {
	compare := func(a, b archive.Access) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.How, b.How)) }
	if slices.IsSortedFunc(as, compare) {
		return as
	}
	as = slices.Clone(as)
	slices.SortFunc(as, compare)
	return as
}
