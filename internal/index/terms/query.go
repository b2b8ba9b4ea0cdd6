package terms

import (
	"strings"
	"unicode/utf8"

	"strandline/internal/archive"
)

// MaxQuery is the number of terms that Query returns at most.
const MaxQuery = 64

// partWeight is what a part of a compound counts beside the whole that the user
// typed: a hit on the whole says more than one on all of its parts.
const partWeight = 0.4

// Query returns the terms of what a user typed, each once, at most MaxQuery.
//
// A word that was typed weighs 1, the parts of a compound less. Words between
// double quotes must be there. A word that ends in an asterisk matches every
// term that it starts, and so do abbreviated hashes and versions by themselves.
// Nothing else is an operator: AND, NEAR, parentheses and colons are read as
// text. Common English words are left out unless there is nothing else or they
// stand in quotes.
func Query(q string) []archive.Term {
	b := builder{at: map[string]int{}}
	for i, piece := range strings.Split(q, `"`) {
		// An odd piece stands between quotes; an unclosed quote is plain text.
		quoted := i%2 == 1 && strings.Count(q, `"`) > i
		b.add(piece, quoted)
	}
	content := b.terms[:0:0]
	for _, t := range b.terms {
		if t.Must || t.Prefix || !Stop(t.Text) {
			content = append(content, t)
		}
	}
	if len(content) == 0 {
		content = b.terms
	}
	return content[:min(len(content), MaxQuery)]
}

type builder struct {
	terms []archive.Term
	at    map[string]int
}

func (b *builder) add(text string, must bool) {
	s := scanner{text: text}
	var buf []byte
	for s.next() {
		run := text[s.start:s.end]
		star := s.end < len(text) && text[s.end] == '*'
		buf = s.appendTerms(buf[:0])
		words := strings.Fields(string(buf))
		if s.kind == runCJK {
			if len(words) > 1 {
				words = words[:len(words)-1] // the pairs say it already
			}
			for _, w := range words {
				b.put(archive.Term{Text: w, Weight: 1, Must: must, Prefix: utf8.RuneCountInString(w) == 1})
			}
			continue
		}
		for i, w := range words {
			switch {
			case i > 0:
				b.put(archive.Term{Text: w, Weight: partWeight})
			case star && !must && s.kind == runASCII && len(run) <= MaxTerm && strings.HasPrefix(strings.ToLower(run), w):
				// "pars*" begins "parse", though it looks like the plural of "par".
				b.put(archive.Term{Text: strings.ToLower(run), Weight: 1, Prefix: true})
				if len(w) < len(run) {
					b.put(archive.Term{Text: w, Weight: partWeight})
				}
			default:
				b.put(archive.Term{Text: w, Weight: 1, Must: must, Prefix: star || opensWord(run, w)})
			}
		}
	}
}

// put adds a term, or joins it with the one of the same text.
func (b *builder) put(t archive.Term) {
	i, ok := b.at[t.Text]
	if !ok {
		b.at[t.Text] = len(b.terms)
		b.terms = append(b.terms, t)
		return
	}
	old := &b.terms[i]
	old.Weight = max(old.Weight, t.Weight)
	old.Must = old.Must || t.Must
	old.Prefix = old.Prefix || t.Prefix
}

// opensWord reports whether run looks like the beginning of something that is
// written longer elsewhere: an abbreviated hash or the first numbers of a
// version.
func opensWord(run, term string) bool {
	if len(term) < 32 && (isHash(run) || len(term) >= minHash && isHash(term)) {
		return true
	}
	digits, dots := 0, 0
	for i := range len(term) {
		switch {
		case term[i] == '.':
			dots++
		case '0' <= term[i] && term[i] <= '9':
			digits++
		}
	}
	return dots > 0 && digits+dots == len(term)
}

// Stop reports whether a term is too common in English prose to select anything.
func Stop(t string) bool {
	switch t {
	case "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by",
		"can", "could", "d", "did", "do", "does", "doe", "for", "from", "get", "had", "ha", "has", "have", "he", "her", "hi", "his",
		"how", "i", "if", "in", "into", "is", "it", "its", "just", "ll", "m", "me", "my", "no", "not", "of", "on",
		"or", "our", "out", "please", "re", "s", "she", "should", "so", "some", "t", "than", "that", "the", "their",
		"them", "then", "there", "these", "they", "this", "those", "thi", "to", "too", "up", "us", "ve", "wa", "was", "we",
		"were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your":
		return true
	}
	return false
}
