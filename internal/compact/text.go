package compact

import (
	"strings"

	"strandline/internal/brief"
)

// Sizes of what stands on one line, in UTF-16 units.
const (
	maxLineUnits     = 220
	maxSentenceUnits = 320
	minLineBytes     = 12
	minWords         = 3 // ordinary words that make a line readable on its own
)

// tidy makes one line of a tool's output or of a file fit to print: without
// the number that a listing puts in front, and clipped. It returns "" for a line
// that says nothing.
func tidy(s string) string {
	s = oneLine(unnumber(s))
	if len(s) < minLineBytes || !hasLetter(s) {
		return ""
	}
	return brief.Cut(s, maxLineUnits)
}

// unnumber drops the line number that a reading tool writes before an arrow or
// a tab.
func unnumber(s string) string {
	t := strings.TrimLeft(s, " ")
	n := 0
	for n < len(t) && isDigit(t[n]) {
		n++
	}
	if n == 0 || n > 7 {
		return s
	}
	if rest, ok := strings.CutPrefix(t[n:], "→"); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(t[n:], "\t"); ok {
		return rest
	}
	return s
}

// sentences splits prose into sentences and list entries; code fences, rules
// and table borders are dropped.
func sentences(text string, fn func(s string)) {
	fenced := false
	for raw := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(raw), "```") {
			fenced = !fenced
			continue
		}
		s := strings.TrimLeft(oneLine(raw), "#>*-•| ")
		if len(s) < minLineBytes || !hasLetter(s) {
			continue
		}
		if fenced {
			fn(brief.Cut(s, maxLineUnits))
			continue
		}
		for s != "" {
			at := sentenceEnd(s)
			fn(brief.Cut(s[:at], maxSentenceUnits))
			s = strings.TrimLeft(s[at:], " ")
		}
	}
}

// sentenceEnd returns where the first sentence of s ends; one that is very short
// goes with the next.
func sentenceEnd(s string) int {
	const short = 24
	for i := short; i+2 < len(s); i++ {
		if (s[i] == '.' || s[i] == '!' || s[i] == '?') && s[i+1] == ' ' && !isLower(s[i+2]) {
			return i + 1
		}
	}
	return len(s)
}

// reasonWords mark a sentence that says what was decided, why, or what must be.
const reasonWords = "because|instead of|decided|so that|the reason|root cause|caused by|the problem is|the issue is|the fix|must|do not|don't|should not|never|always|chose|rather than|in order to|turns out|means that|workaround|the key|important"

// reasoned reports whether a sentence holds one of the words of reason.
func reasoned(s string) bool {
	s = strings.ToLower(s)
	for w := range strings.SplitSeq(reasonWords, "|") {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// preferenceWords mark a prompt in which the user says how things are to be done.
const preferenceWords = "always|never|prefer|don't|do not|please use|must|should|make sure|instead|only|avoid|rather|remember|important|no need"

// states reports whether a prompt states a preference.
func states(s string) bool {
	s = strings.ToLower(s)
	for w := range strings.SplitSeq(preferenceWords, "|") {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// declares reports whether a line of code introduces a name.
func declares(s string) bool {
	for w := range strings.SplitSeq("func |type |class |def |const |interface |struct |export |public |fn |impl |struct |enum |async def |function |var ", "|") {
		if strings.HasPrefix(s, w) {
			return true
		}
	}
	return false
}

// checks reports whether a command tests or builds.
func checks(cmd string) bool {
	for w := range strings.SplitSeq("test|build|lint|vet|check|make|pytest|cargo|tsc|compile|mypy|ruff|gradle|mvn", "|") {
		if strings.Contains(cmd, w) {
			return true
		}
	}
	return false
}

// ago is the weight of something n moments back: half of it after h of them.
func ago(n, h int) float64 { return float64(h) / float64(h+n) }
