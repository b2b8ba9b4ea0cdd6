package usage

import "slices"

// Zone classifies the used share of the window.
type Zone string

// The zones.
const (
	OK       Zone = "ok"
	Warning  Zone = "warning"
	Optimize Zone = "optimize" // use the window sparingly
)

// Zones holds the shares of the window at which the zones begin.
type Zones struct {
	Warn, Prune float64
}

// stepSize is the share of the window between two reports above the warning.
const stepSize = 0.05

// Within scales the zones to a window in which the client acts at the share next.
// If that is at or below the warning, the zones become shares of next; otherwise
// such a client would compact before any warning.
func (z Zones) Within(next float64) Zones {
	z.Prune = max(z.Prune, z.Warn)
	if next <= 0 || next > z.Warn {
		return z
	}
	return Zones{Warn: z.Warn * next, Prune: z.Prune * next}
}

// Of returns the zone of a share of the window.
func (z Zones) Of(part float64) Zone {
	switch {
	case part >= z.Prune:
		return Optimize
	case part >= z.Warn:
		return Warning
	}
	return OK
}

// step returns the number of whole steps between the warning and a share.
func (z Zones) step(part float64) int {
	const slack = 1e-9 // 0.75 - 0.70 is a little less than 0.05
	return max(int((part-z.Warn+slack)/stepSize), 0)
}

// growthPoints is the number of newest points that Growth uses. Older ones may
// belong to another kind of work.
const growthPoints = 12

// Growth returns the number of tokens that a turn adds: the median slope between
// all pairs of points (Theil-Sen estimator), so that a single large output or a
// rewind changes little. It is 0 for fewer than three points and for a window that
// does not fill.
func Growth(history []Point) int64 {
	points := history[max(len(history)-growthPoints, 0):]
	var slopes []float64
	for i, a := range points {
		for _, b := range points[i+1:] {
			if b.Turns > a.Turns {
				slopes = append(slopes, float64(b.Tokens-a.Tokens)/float64(b.Turns-a.Turns))
			}
		}
	}
	if len(points) < 3 || len(slopes) == 0 {
		return 0
	}
	slices.Sort(slopes)
	mid := slopes[len(slopes)/2]
	if len(slopes)%2 == 0 {
		mid = (mid + slopes[len(slopes)/2-1]) / 2
	}
	return max(int64(mid), 0)
}

// TurnsLeft returns the number of turns from tokens to limit; false if the usage
// does not grow or the limit is unknown.
func TurnsLeft(tokens, limit, growth int64) (int, bool) {
	if growth <= 0 || limit <= 0 {
		return 0, false
	}
	return int(max(limit-tokens, 0) / growth), true
}
