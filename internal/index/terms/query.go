package terms

import (
	"slices"
	"strings"
	"unicode/utf8"

	"strandline/internal/archive"
)

// MaxQuery is the maximal number of terms that Query returns.
const MaxQuery = 64

// partWeight is the weight of a part of a typed compound. A match of the whole counts
// more than a match of all parts.
const partWeight = 0.4

// Query returns the terms of a typed query, each once, at most MaxQuery.
//
// A typed word has weight 1, the parts of a compound less. Words in double quotes are
// required. A word with an asterisk at its end is a prefix, and so are abbreviated
// hashes and versions. There are no other operators: AND, NEAR, parentheses and colons
// are text. Stop words are left out unless they are quoted or the only words.
func Query(q string) []archive.Term {
	b := builder{at: map[string]int{}}
	for i, piece := range strings.Split(q, `"`) {
		// Odd pieces are between quotes. An unclosed quote is plain text.
		quoted := i%2 == 1 && strings.Count(q, `"`) > i
		b.add(piece, quoted)
	}
	content := slices.DeleteFunc(slices.Clone(b.terms), func(t archive.Term) bool { return !t.Must && !t.Prefix && Stop(t.Text) })
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
				words = words[:len(words)-1] // the last character is in a pair
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
				// "pars*" matches "parse", although it looks like the plural of "par".
				b.put(archive.Term{Text: strings.ToLower(run), Weight: 1, Prefix: true})
				if len(w) < len(run) {
					b.put(archive.Term{Text: w, Weight: partWeight})
				}
			default:
				b.put(archive.Term{Text: w, Weight: 1, Must: must, Prefix: star || isAbbreviated(run, w)})
			}
		}
	}
}

// put adds a term, or merges it with the term of the same text.
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

// isAbbreviated reports whether run is probably a prefix of a longer term: an
// abbreviated hash or the first numbers of a version.
func isAbbreviated(run, term string) bool {
	return len(term) < 32 && (isHash(run) || len(term) >= minHash && isHash(term)) ||
		strings.Contains(term, ".") && strings.Trim(term, ".0123456789") == ""
}

// Stop reports whether a term is a stop word: too common in English to select passages.
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

// AnswerType returns the kind of text that answers an English question, if the words of
// a passage can show it: a time or a number. "when" is a question only as the first
// word; elsewhere it states a condition ("fix the panic when the file is missing").
func AnswerType(query string) (answer archive.AnswerType) {
	before := ""
	for w := range strings.FieldsSeq(strings.ToLower(query)) {
		question := before + " " + strings.TrimRight(w, "?,.")
		before = w
		switch question {
		case " when":
			answer |= archive.AnswerTime
		case "how long":
			answer |= archive.AnswerTime | archive.AnswerNumber
		case "how many", "how much", "how old", "how often", "what version", "what number", "what port", "which version", "which number", "which port":
			answer |= archive.AnswerNumber
		case "what year", "what month", "what day", "what date", "what weekday",
			"which year", "which month", "which day", "which date", "which weekday":
			answer |= archive.AnswerTime
		}
	}
	return answer
}

// AnswerIn returns the answer types that a term satisfies after the term before it. Both
// are as Index returns them.
func AnswerIn(before, term []byte) archive.AnswerType {
	if len(term) == 0 {
		return 0
	}
	if c := term[0]; '0' <= c && c <= '9' {
		if len(term) == 4 && (c == '1' && term[1] == '9' || c == '2' && term[1] == '0') {
			return archive.AnswerTime | archive.AnswerNumber // most likely a year
		}
		return archive.AnswerNumber
	}
	switch string(term) {
	case "yesterday", "today", "tonight", "tomorrow", "ago", "recently", "weekend",
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
		"january", "february", "april", "june", "july", "august", "september", "october", "november", "december":
		return archive.AnswerTime
	case "night", "week", "month", "year", "spring", "summer", "autumn", "winter":
		switch string(before) {
		case "last", "next", "this", "thi": // "thi": "this" as a folded plural
			return archive.AnswerTime
		}
	case "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "couple", "dozen", "twice", "several":
		return archive.AnswerNumber
	}
	return 0
}
