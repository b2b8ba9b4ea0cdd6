package usage

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"strandline/internal/text"
)

// Token counts as measured with version 2.1.329 of the client.
const (
	largeWindow = 1_000_000 // current and unknown models
	smallWindow = 200_000
	minWindow   = 100_000    // the smallest that the client's setting allows
	maxWindow   = 10_000_000 // larger reports are errors

	outputReserve  = 20_000 // kept free for the response
	compactReserve = 13_000 // between the automatic compaction and the output reserve
	hardReserve    = 3_000  // between the last request and the output reserve
)

// Limits holds the token counts at which the client acts.
type Limits struct {
	Window int
	// Threshold is where the client compacts; 0 if it does not watch the usage and
	// compacts only when the API refuses a request.
	Threshold int
	// Hard is where the client stops sending.
	Hard int
	// Off is set if automatic compaction is disabled.
	Off bool
}

// Next returns the number of tokens at which the client acts next, and whether it
// compacts there or stops sending. A client that does not watch the usage compacts
// at the window's end, when the API refuses.
func (l Limits) Next() (at int, compacts bool) {
	switch {
	case l.Off:
		return l.Hard, false
	case l.Threshold > 0:
		return l.Threshold, true
	}
	return l.Window, true
}

// ModelWindow returns the window of a model. Unknown models have the large one, as
// for the client.
func ModelWindow(model string) int {
	if strings.HasSuffix(model, "[1m]") {
		return largeWindow
	}
	for _, name := range []string{"opus-4-5", "opus-4-6", "sonnet-4-5", "sonnet-4-6", "haiku-4-5"} {
		if _, rest, found := strings.Cut(model, name); found && !startsWithDigit(rest) {
			return smallWindow
		}
	}
	return largeWindow
}

// knownModel reports whether ModelWindow knows the model's family.
func knownModel(model string) bool {
	return strings.HasSuffix(model, "[1m]") || slices.ContainsFunc([]string{"opus-", "sonnet-", "haiku-", "fable-"}, func(family string) bool {
		_, rest, found := strings.Cut(model, family)
		return found && startsWithDigit(rest)
	})
}

func startsWithDigit(s string) bool { return s != "" && text.IsDigit(s[0]) }

// fitWindow returns the smallest window that holds a number of tokens.
func fitWindow(tokens int64) int64 {
	if tokens <= smallWindow {
		return smallWindow
	}
	return max(tokens, largeWindow)
}

// FindLimits returns the limits for a model. reported is the window that the client
// reported, 0 if unknown; it overrides the model's. settings are the client's settings
// files, the one that takes precedence first; the environment overrides them.
func FindLimits(model string, reported int, getenv func(string) string, settings ...string) Limits {
	own := ModelWindow(model)
	l := Limits{Window: own}
	if reported > 0 && reported <= maxWindow {
		l.Window = reported
	}
	watched := own != smallWindow || l.Window != smallWindow // the client does not watch small windows by default
	lower := func(n int) {
		if n < l.Window {
			l.Window, watched = n, true
		}
	}
	if getenv("CLAUDE_CODE_DISABLE_1M_CONTEXT") == "1" {
		lower(smallWindow)
	}
	set := readSettings(model, settings)
	if n := cmp.Or(parseTokens(getenv("CLAUDE_CODE_AUTO_COMPACT_WINDOW")), set.window); n > 0 {
		watched = true
		lower(max(n, minWindow))
	}
	effective := max(l.Window-outputReserve, 0)
	l.Hard = max(effective-hardReserve, 0)
	if l.Off = enabled(getenv("DISABLE_AUTO_COMPACT")) || enabled(getenv("DISABLE_COMPACT")) || set.off; l.Off || !watched {
		return l
	}
	l.Threshold = max(effective-compactReserve, 0)
	if p, err := strconv.ParseFloat(getenv("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"), 64); err == nil && p > 0 && p <= 100 {
		l.Threshold = min(l.Threshold, int(p*float64(effective)/100))
	}
	return l
}

// enabled reports whether an environment switch of the client is on.
func enabled(value string) bool {
	return slices.Contains([]string{"1", "true", "yes", "on"}, strings.ToLower(strings.TrimSpace(value)))
}

// parseTokens parses 150000, 150k or 1m. It returns 0 for anything else.
func parseTokens(s string) int {
	s = strings.ToLower(strings.TrimSpace(s))
	digits := strings.TrimRight(s, "km")
	unit := map[string]int{"": 1, "k": 1000, "m": 1_000_000}[s[len(digits):]]
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || unit == 0 || n > 1<<31/unit {
		return 0
	}
	return n * unit
}

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
