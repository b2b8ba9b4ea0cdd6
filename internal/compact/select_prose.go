package compact

import (
	"math/bits"
	"strings"
	"sync"
	"unicode"

	"strandline/internal/text"
)

// Limits of one printed line.
const (
	maxLineUnits = 220 // of code and output, in UTF-16 units
	minLineBytes = 12
	minWords     = 3 // ordinary words that make a line readable on its own
)

// refusalNotice begins the client's text about a refused call; the user's words follow it.
const refusalNotice = "The user doesn't want to proceed with this tool use"

// printable returns a line of a file or a tool's output ready to print: without
// line number, truncated. It returns "" for a line without content.
func printable(s string) string {
	s = text.CleanLine(trimLineNumber(s))
	if len(s) < minLineBytes || !text.HasLetter(s) || isStatusElement(s) || strings.HasPrefix(s, refusalNotice) {
		return ""
	}
	return text.Truncate(s, maxLineUnits)
}

// isStatusElement reports whether a line is one XML element with an underscore in
// its name, in which the client reports the state of a background task.
func isStatusElement(s string) bool {
	if s[0] != '<' {
		return false
	}
	name, rest, ok := strings.Cut(s[1:], ">")
	return ok && strings.Contains(name, "_") && strings.HasSuffix(rest, "</"+name+">")
}

// trimLineNumber removes the line number that the client's reading tool prints.
func trimLineNumber(s string) string { return s[text.LineNumberLen(s, 7):] }

// givesReason reports whether a sentence states a decision, a reason or a
// constraint.
func givesReason(s string) bool {
	return reasonPhrases().in(s)
}

var reasonPhrases = sync.OnceValue(func() *phraseSet {
	return newPhraseSet("because", "instead of", "decided", "so that", "the reason", "root cause", "caused by",
		"the problem is", "the issue is", "the fix", "must", "do not", "don't", "should not", "never", "always",
		"chose", "chosen", "rather than", "in order to", "turns out", "means that", "workaround", "the key", "important")
})

// givesPreference reports whether a prompt states how work is to be done.
func givesPreference(s string) bool {
	return preferencePhrases().in(s)
}

var preferencePhrases = sync.OnceValue(func() *phraseSet {
	return newPhraseSet("always", "never", "prefer", "don't", "do not", "please use", "must", "should", "make sure",
		"instead", "only", "avoid", "rather", "remember", "important", "no need")
})

// givesRule reports whether a sentence of a command's expansion is a rule for the work,
// rather than one of its steps: it begins with one of the words, or emphasizes one.
func givesRule(s string) bool {
	if strings.HasSuffix(s, ":") {
		return false
	}
	for _, word := range []string{"never", "always", "do not", "don't", "critical", "important"} {
		if strings.Contains(s, strings.ToUpper(word)) || len(s) > len(word) && strings.EqualFold(s[:len(word)], word) {
			return true
		}
	}
	return strings.Contains(s, "MUST")
}

// isStanding reports whether a sentence of a prompt is an instruction for all work that
// follows: one of the phrases is at its beginning.
func isStanding(s string) bool {
	const beginning = 24
	return text.Units(s) <= maxStatement && !strings.HasSuffix(s, "?") && !strings.HasPrefix(s, "Never mind") && standingPhrases().in(text.Prefix(s, beginning))
}

var standingPhrases = sync.OnceValue(func() *phraseSet {
	return newPhraseSet("always", "never", "prefer", "from now on", "in the future", "in future", "remember", "make sure", "please use", "in general", "every time",
		"by default", "whenever", "must not", "don't ever", "we only", "we use", "we don't use", "no need to", "do not use", "don't use", "use only", "stick to")
})

// isTentative reports whether a sentence considers something without settling it.
func isTentative(s string) bool { return strings.HasSuffix(s, "?") || tentativePhrases().in(s) }

var tentativePhrases = sync.OnceValue(func() *phraseSet {
	return newPhraseSet("might", "maybe", "perhaps", "could be", "let me", "wait", "hmm", "should i", "i should", "i need", "i think",
		"probably", "let's", "i could", "i can", "i'll", "likely", "actually", "seems", "the user", "we could", "could")
})

// asksUser reports whether a sentence asks the user how to go on. The next prompt
// answers it.
func asksUser(s string) bool {
	return isQuestion(s) && text.HasAnyPrefix(s, "Want me", "Would you", "Do you want", "Does this", "Does that", "Does Option",
		"Shall I", "Should I", "Should we", "What do you", "Which do you", "Ready to", "Is that", "Is this", "Any ")
}

// isQuestion reports whether a text ends with a question mark, within markup or quotes.
func isQuestion(s string) bool { return strings.HasSuffix(strings.TrimRight(s, "*_`\"')"), "?") }

// isProse reports whether a sentence is written by a person, rather than pasted code or
// output: most of it are letters, in some words.
func isProse(s string) bool {
	letters, other, words := 0, 0, 0
	for word := range strings.FieldsSeq(s) {
		words++
		for _, r := range word {
			if unicode.IsLetter(r) {
				letters++
			} else {
				other++
			}
		}
	}
	return words >= minWords && letters > 5*other
}

// phraseSet is a set of at most 32 phrases in lower case.
type phraseSet struct {
	phrases []string
	by      ['z' + 1]uint32 // the phrases by first letter
}

func newPhraseSet(phrases ...string) *phraseSet {
	set := &phraseSet{phrases: phrases}
	for i, p := range phrases {
		set.by[p[0]] |= 1 << i
	}
	return set
}

// in reports whether s contains one of the phrases as whole words, ignoring case.
func (set *phraseSet) in(s string) bool {
	inWord := false
	for i := range len(s) {
		letter := text.IsLetter(s[i])
		if letter && !inWord {
			for found := set.by[s[i]|0x20]; found != 0; found &= found - 1 {
				p := set.phrases[bits.TrailingZeros32(found)]
				end := i + len(p)
				if end <= len(s) && strings.EqualFold(s[i:end], p) && (end == len(s) || !text.IsLetter(s[end])) {
					return true
				}
			}
		}
		inWord = letter
	}
	return false
}

// isAnnouncement reports whether a sentence only announces the next action; the
// action itself has its own entry.
func isAnnouncement(s string) bool {
	return text.HasAnyPrefix(s, "Let me ", "Now ", "I'll ", "I will ", "I need to ",
		"Good", "Great", "Perfect", "Let's ", "First, let", "Next, ", "Also ")
}

// split truncates a text to at most n units, ellipsis included, at the end of a
// line or word, and returns the rest.
func split(body string, n int) (head, rest string) {
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

// ending returns the end of a text in at most n units, ellipsis included, from the
// start of a line or word.
func ending(body string, n int) string {
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

// unmarked removes the markup of headings and bold lines.
func unmarked(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if !isListEntry(l) {
			lines[i] = text.TrimMarkdown(l)
		}
	}
	return strings.Join(lines, "\n")
}

// compactLines removes empty lines, and white space at both ends.
func compactLines(s string) string {
	s = strings.TrimSpace(s)
	for strings.Contains(s, "\n\n") {
		s = strings.ReplaceAll(s, "\n\n", "\n")
	}
	return s
}

// decay returns the weight of something n places back: half of it after h places.
func decay(n, h int) float64 { return float64(h) / float64(h+n) }
