package compact

import (
	"math/bits"
	"strings"

	"strandline/internal/text"
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
	s, _ = tidied(s)
	return s
}

// tidied is tidy; whole reports that the line still has all the specifics and
// ordinary words that it had.
func tidied(s string) (line string, whole bool) {
	s, whole = flat(unnumber(s))
	if len(s) < minLineBytes || !hasLetter(s) || housekeeping(s) {
		return "", false
	}
	line = text.Truncate(s, maxLineUnits)
	return line, whole && len(line) == len(s)
}

// housekeeping reports whether a line is one of those in which the client tells
// the state of a task: one element whose name has an underscore.
func housekeeping(s string) bool {
	if s[0] != '<' {
		return false
	}
	name, rest, ok := strings.Cut(s[1:], ">")
	return ok && strings.Contains(name, "_") && strings.HasSuffix(rest, "</"+name+">")
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
func sentences(body string, fn func(s string)) {
	text.ProseLines(body, func(line string, code bool) {
		switch s := text.TrimMarkdown(oneLine(line)); {
		case len(s) < minLineBytes || !hasLetter(s):
		case code:
			fn(text.Truncate(s, maxLineUnits))
		default:
			text.Sentences(s, func(s string) { fn(text.Truncate(s, maxSentenceUnits)) })
		}
	})
}

// reasoned reports whether a sentence says what was decided, why, or what must
// be.
func reasoned(s string) bool {
	return holdsAny(s, "because", "instead of", "decided", "so that", "the reason", "root cause", "caused by",
		"the problem is", "the issue is", "the fix", "must", "do not", "don't", "should not", "never", "always",
		"chose", "chosen", "rather than", "in order to", "turns out", "means that", "workaround", "the key", "important")
}

// states reports whether a prompt says how things are to be done.
func states(s string) bool {
	return holdsAny(s, "always", "never", "prefer", "don't", "do not", "please use", "must", "should", "make sure",
		"instead", "only", "avoid", "rather", "remember", "important", "no need")
}

// holdsAny reports whether one of the phrases, at most 32 and given in lower
// case, stands in s as whole words.
func holdsAny(s string, phrases ...string) bool {
	var by ['z' + 1]uint32 // phrases by their first letter
	for i, p := range phrases {
		by[p[0]] |= 1 << i
	}
	inside := false
	for i := range len(s) {
		letter := isLetter(s[i])
		if letter && !inside {
			for of := by[s[i]|0x20]; of != 0; of &= of - 1 {
				p := phrases[bits.TrailingZeros32(of)]
				end := i + len(p)
				if end <= len(s) && strings.EqualFold(s[i:end], p) && (end == len(s) || !isLetter(s[end])) {
					return true
				}
			}
		}
		inside = letter
	}
	return false
}

// narrates reports whether a sentence only announces what is done next; the
// acts themselves are in the record.
func narrates(s string) bool {
	return beginsWith(s, "Let me ", "Now ", "I'll ", "I will ", "I need to ",
		"Good", "Great", "Perfect", "Let's ", "First, let", "Next, ", "Also ")
}

// announces reports whether a sentence only leads over to an act, or says that
// something was seen.
func announces(s string) bool {
	return narrates(s) && strings.HasSuffix(s, ":") || beginsWith(s, "I can see ", "I see the ", "I see that ", "Yes! ", "Looking at ")
}

// stops reports whether a line ends the way a sentence does, or leads over to the
// next.
func stops(s string) bool {
	return s == "" || strings.IndexByte(".:;!?,", s[len(s)-1]) >= 0 || strings.HasSuffix(s, "…")
}

// comment reports whether a line between prose is a comment of code.
func comment(s string) bool { return beginsWith(s, "//", "/*", "<!--") }

// code reports whether a line between prose is a line of code.
func code(s string) bool {
	switch s[len(s)-1] {
	case '{', '}', ';', '(':
		return true
	}
	return strings.Contains(s, " := ") || declares(s) || comment(s)
}

func beginsWith(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// clip cuts text to at most n units and returns what is left over. It cuts
// behind a line or a word; the ellipsis that marks the cut is counted.
func clip(body string, n int) (head, rest string) {
	head = text.Truncate(body, n)
	if head == body {
		return body, ""
	}
	at := len(strings.TrimSuffix(head, "…"))
	for _, end := range []string{"\n", " "} {
		if i := strings.LastIndex(body[:at], end); i > at*3/4 {
			at = i
			break
		}
	}
	return strings.TrimRight(body[:at], " \n") + "…", strings.TrimLeft(body[at:], " \n")
}

// tail is the end of text in at most n units, from the beginning of a line or of
// a word on; the ellipsis that marks the cut is counted.
func tail(body string, n int) string {
	if text.Units(body) <= n {
		return body
	}
	at := len(body) - n + len("…") // a unit has at least one byte
	if at >= len(body) {
		return ""
	}
	for _, end := range []string{"\n", " "} {
		if i := strings.Index(body[at:], end); i >= 0 && i < n/2 {
			return "…" + strings.TrimLeft(body[at+i:], "\n ")
		}
	}
	return "…" + strings.ToValidUTF8(body[at:], "")
}

// dense drops empty lines, and blanks at both ends.
func dense(s string) string {
	s = strings.TrimSpace(s)
	for strings.Contains(s, "\n\n") {
		s = strings.ReplaceAll(s, "\n\n", "\n")
	}
	return s
}

// declares reports whether a line of code introduces a name.
func declares(s string) bool {
	return beginsWith(s, "func ", "type ", "class ", "def ", "async def ", "const ", "var ", "interface ", "struct ",
		"enum ", "impl ", "fn ", "export ", "public ", "function ")
}

// complains reports whether a line of output tells of an error.
func complains(s string) bool {
	return holdsAny(s, "error", "errors", "fail", "failed", "failure", "fatal", "panic", "exception", "undefined",
		"cannot", "denied", "not found", "no such", "unexpected", "expected")
}

// ago is the weight of something n moments back: half of it after h of them.
func ago(n, h int) float64 { return float64(h) / float64(h+n) }
