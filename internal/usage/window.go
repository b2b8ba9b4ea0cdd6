// Package window knows how large a model's context window is for the client, and
// where in it the client acts by itself. All numbers are tokens, as measured with
// version 2.1.329 of the client; a session's own usage is what the API reported
// for its last response.
package usage

import (
	"strconv"
	"strings"
)

const (
	large = 1_000_000 // of today's models, and of those that are not known
	small = 200_000
	least = 100_000    // a smaller one cannot be set
	most  = 10_000_000 // whoever tells of more is mistaken

	outputReserve  = 20_000 // kept free for the response
	compactReserve = 13_000 // below the rest of the window: the automatic compaction
	hardReserve    = 3_000  // below the rest of the window: nothing is sent any more
)

// Limits are the places in a window at which the client acts.
type Limits struct {
	Window int
	// Threshold is where the client compacts by itself; 0 when it does not watch
	// the usage and waits for the API to refuse.
	Threshold int
	// Hard is where the client stops sending.
	Hard int
	// Off says that the client compacts only when it is told to.
	Off bool
}

// Next is where something happens to a session that grows, and whether that is a
// compaction; else the client stops sending there. A client that does not watch
// the usage goes on to the window's end, where the API refuses and it compacts.
func (l Limits) Next() (at int, compacts bool) {
	switch {
	case l.Off:
		return l.Hard, false
	case l.Threshold > 0:
		return l.Threshold, true
	}
	return l.Window, true
}

// ModelWindow returns the window of a model. Models that are not known have the large one,
// as they have for the client.
func ModelWindow(model string) int {
	if strings.HasSuffix(model, "[1m]") {
		return large
	}
	for _, name := range []string{"opus-4-5", "opus-4-6", "sonnet-4-5", "sonnet-4-6", "haiku-4-5"} {
		_, rest, found := strings.Cut(model, name)
		if found && (rest == "" || rest[0] < '0' || rest[0] > '9') {
			return small
		}
	}
	return large
}

// knownModel reports whether the model is of a family whose windows are known. Of is a
// guess for others.
func knownModel(model string) bool {
	for _, family := range []string{"opus-", "sonnet-", "haiku-", "fable-"} {
		if _, rest, found := strings.Cut(model, family); found && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return true
		}
	}
	return strings.HasSuffix(model, "[1m]")
}

// fitWindow returns the smallest window of a client in which so many tokens can stand.
func fitWindow(tokens int64) int64 {
	switch {
	case tokens <= small:
		return small
	case tokens <= large:
		return large
	}
	return tokens
}

// FindLimits returns the limits for a model. told is the window that the client itself
// tells, 0 when it does not; it goes before what is known of the model. Settings of the client can move the limits without
// the environment showing it: the limits are then too high, never too low.
func FindLimits(model string, told int, getenv func(string) string) Limits {
	own := ModelWindow(model)
	l := Limits{Window: own}
	if told > 0 && told <= most {
		l.Window = told
	}
	watched := own != small || l.Window != small // by itself, a small window is not watched
	lower := func(n int) {
		if n < l.Window {
			l.Window, watched = n, true
		}
	}
	if getenv("CLAUDE_CODE_DISABLE_1M_CONTEXT") == "1" {
		lower(small)
	}
	if n := tokens(getenv("CLAUDE_CODE_AUTO_COMPACT_WINDOW")); n > 0 {
		watched = true
		lower(max(n, least))
	}
	effective := max(l.Window-outputReserve, 0)
	l.Hard = max(effective-hardReserve, 0)
	if l.Off = set(getenv("DISABLE_AUTO_COMPACT")) || set(getenv("DISABLE_COMPACT")); l.Off || !watched {
		return l
	}
	l.Threshold = max(effective-compactReserve, 0)
	if p, err := strconv.ParseFloat(getenv("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"), 64); err == nil && p > 0 && p <= 100 {
		l.Threshold = min(l.Threshold, int(p*float64(effective)/100))
	}
	return l
}

// set reports whether a switch of the client is on.
func set(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// tokens reads 150000, 150k or 1m; 0 is what it cannot read.
func tokens(s string) int {
	s = strings.ToLower(strings.TrimSpace(s))
	unit := 1
	if short, ok := strings.CutSuffix(s, "k"); ok {
		s, unit = short, 1000
	} else if short, ok := strings.CutSuffix(s, "m"); ok {
		s, unit = short, 1_000_000
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1<<31/unit {
		return 0
	}
	return n * unit
}
