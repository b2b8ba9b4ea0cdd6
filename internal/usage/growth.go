package usage

import (
	"slices"
)

// growthPoints is how many points the growth is taken from, the newest ones: a
// session that read files in the morning and talks in the afternoon grows as it
// does in the afternoon.
const growthPoints = 12

// Growth is how many tokens a turn adds: the median of the slopes between all
// pairs of points (Theil and Sen), so that one large output, or one turn that
// dropped what a rewind took back, changes little. It is 0 for less than three
// points and for a window that does not fill.
func Growth(history []Point) int64 {
	points := history[max(len(history)-growthPoints, 0):]
	if len(points) < 3 {
		return 0
	}
	var slopes []float64
	for i, a := range points {
		for _, b := range points[i+1:] {
			if b.Turns > a.Turns {
				slopes = append(slopes, float64(b.Tokens-a.Tokens)/float64(b.Turns-a.Turns))
			}
		}
	}
	if len(slopes) == 0 {
		return 0
	}
	slices.Sort(slopes)
	mid := slopes[len(slopes)/2]
	if len(slopes)%2 == 0 {
		mid = (mid + slopes[len(slopes)/2-1]) / 2
	}
	return max(int64(mid), 0)
}

// TurnsLeft is how many turns of that growth lead from tokens to limit; false
// where it does not grow.
func TurnsLeft(tokens, limit, growth int64) (int, bool) {
	if growth <= 0 || limit <= 0 {
		return 0, false
	}
	return int(max(limit-tokens, 0) / growth), true
}
