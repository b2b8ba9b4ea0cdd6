package usage

// Zone says how the window should be used.
type Zone string

// The zones.
const (
	OK       Zone = "ok"
	Warning  Zone = "warning"
	Optimize Zone = "optimize" // sparingly
)

// Zones are where the zones begin, as parts of the window.
type Zones struct {
	Warn, Prune float64
}

// stepSize is how far apart reports are above the warning, as a part of the window.
const stepSize = 0.05

// Within returns the zones for a window in which something happens at next, a
// part of it. Where that is before the warning would begin, the zones count from
// there: a client that compacts at half of its window would never be warned of.
func (z Zones) Within(next float64) Zones {
	z.Prune = max(z.Prune, z.Warn)
	if next <= 0 || next > z.Warn {
		return z
	}
	return Zones{Warn: z.Warn * next, Prune: z.Prune * next}
}

// Of returns the zone of a part of the window.
func (z Zones) Of(part float64) Zone {
	switch {
	case part >= z.Prune:
		return Optimize
	case part >= z.Warn:
		return Warning
	}
	return OK
}

// step is how many steps a part lies above the warning.
func (z Zones) step(part float64) int {
	const slack = 1e-9 // 0.75 - 0.70 is a little less than 0.05
	return max(int((part-z.Warn+slack)/stepSize), 0)
}
