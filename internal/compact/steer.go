package compact

import (
	"slices"
	"strings"
	"unicode"
)

// steering is what the text behind /compact names. It is an order, so a line that
// follows it is worth more than any that is merely likely to be needed.
type steering struct {
	words  []steerWord
	weight float64 // of all words
}

type steerWord struct {
	text   string // in lower case
	weight float64
}

const (
	// steerWorth is what a line gains that holds all that was named. A line with
	// a reason has about one, one with a few names that are likely to be needed
	// about three.
	steerWorth = 8
	// nameWeight is how many ordinary words a name counts for.
	nameWeight = 3
)

// newSteering reads the text behind /compact. Without a text nothing is steered.
func newSteering(text string) steering {
	var s steering
	for w := range strings.FieldsSeq(strings.ToLower(clean(text))) {
		w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if w == "" || slices.ContainsFunc(s.words, func(x steerWord) bool { return x.text == w }) {
			continue
		}
		weight := 1.0
		switch {
		case strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) }):
			weight = nameWeight
		case len(w) < 4 || orders(w):
			continue
		}
		s.words = append(s.words, steerWord{w, weight})
		s.weight += weight
	}
	return s
}

// bonus is what a line gains by what it holds of the words.
func (s steering) bonus(line string) float64 {
	if s.weight == 0 {
		return 0
	}
	line = strings.ToLower(line)
	held := 0.0
	for _, w := range s.words {
		if strings.Contains(line, w.text) {
			held += w.weight
		}
	}
	return steerWorth * held / s.weight
}

// orders reports whether a word says that something is to be done, and not with
// what.
func orders(w string) bool {
	switch w {
	case "keep", "mind", "focus", "remember", "preserve", "include", "retain", "drop", "forget", "ignore", "summarize", "summary", "context",
		"please", "about", "everything", "anything", "only", "also", "with", "that", "this", "these", "those", "from", "into", "what",
		"which", "when", "where", "have", "should", "must", "need", "needed", "want", "more", "most", "them", "they", "their", "there",
		"verbatim", "word", "words", "details", "important", "especially", "make", "sure", "after", "before", "still", "will", "just":
		return true
	}
	return false
}
