package compact

import (
	"slices"
	"strings"
	"unicode"

	"strandline/internal/text"
)

// instructions holds the words of the text after /compact. That text is an order,
// so a line that matches it is worth more than any that is merely likely to be
// needed.
type instructions struct {
	words  []weightedWord
	weight float64 // of all words
}

type weightedWord struct {
	text   string // in lower case
	weight float64
}

const (
	// instructionValue is added to a line that holds all the words. A line with a
	// reason has a value of about one, a line with a few terms that are likely to
	// be needed about three.
	instructionValue = 8
	// nameWeight is the weight of a name, relative to an ordinary word.
	nameWeight = 3
)

// parseInstructions parses the text after /compact. Of "" nothing matches.
func parseInstructions(s string) instructions {
	var in instructions
	for w := range strings.FieldsSeq(strings.ToLower(text.Clean(s))) {
		w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if w == "" || slices.ContainsFunc(in.words, func(x weightedWord) bool { return x.text == w }) {
			continue
		}
		weight := 1.0
		switch {
		case strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) }):
			weight = nameWeight
		case len(w) < 4 || isStopWord(w):
			continue
		}
		in.words = append(in.words, weightedWord{w, weight})
		in.weight += weight
	}
	return in
}

// match returns the value that a line gains by the words it holds.
func (in instructions) match(line string) float64 {
	if in.weight == 0 {
		return 0
	}
	line = strings.ToLower(line)
	held := 0.0
	for _, w := range in.words {
		if strings.Contains(line, w.text) {
			held += w.weight
		}
	}
	return instructionValue * held / in.weight
}

// isStopWord reports whether a word of an instruction carries no subject.
func isStopWord(w string) bool {
	switch w {
	case "keep", "mind", "focus", "remember", "preserve", "include", "retain", "drop", "forget", "ignore", "summarize", "summary", "context",
		"please", "about", "everything", "anything", "only", "also", "with", "that", "this", "these", "those", "from", "into", "what",
		"which", "when", "where", "have", "should", "must", "need", "needed", "want", "more", "most", "them", "they", "their", "there",
		"verbatim", "word", "words", "details", "important", "especially", "make", "sure", "after", "before", "still", "will", "just":
		return true
	}
	return false
}
