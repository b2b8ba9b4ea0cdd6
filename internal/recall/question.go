package recall

import (
	"iter"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// Limits of a question that is looked up.
const (
	maxQuestionWords = 40  // a longer prompt describes current work
	beginning        = 4   // words of a sentence that show whether it asks or orders
	workWeight       = 0.3 // of a work word, relative to another word
)

// question is the question of a prompt.
type question struct {
	terms []archive.Term // without the words that only ask
	// decision reports that it asks for a decision. The last term is then a word for that;
	// few passages with the other terms have it.
	decision bool
}

// readQuestion returns the question of a prompt. It has no terms if the prompt asks
// nothing, asks for work, or has no subject: a term of weight 1.
func readQuestion(prompt string) (q question) {
	var asked strings.Builder
	if len(strings.Fields(prompt)) > maxQuestionWords {
		return q
	}
	for s := range sentences(prompt) {
		if asks(s) {
			q.decision = q.decision || hasCJK(s) && containsPart(s, decideParts, " ")
			asked.WriteString(withoutFrame(s) + "\n")
		}
	}
	subjects := 0.0
	for _, t := range terms.Query(strings.ReplaceAll(asked.String(), `"`, " ")) {
		switch {
		case listed(decideWords, t.Text):
			q.decision = true
			continue
		case terms.Stop(t.Text), listed(frameWords, t.Text), listed(askWords, t.Text), utf8.RuneCountInString(t.Text) < 2:
			continue
		case listed(workWords, t.Text), listed(workParts, t.Text):
			t.Weight *= workWeight
		default:
			subjects += math.Floor(t.Weight)
			if t.Weight < 1 || strings.ContainsAny(t.Text, digits) { // of a name
				subjects++
			}
		}
		q.terms = append(q.terms, t)
	}
	if subjects == 0 || subjects == 1 && !q.decision && !looksBack(asked.String()) {
		return question{}
	}
	terms.Widen(q.terms)
	for i := range q.terms {
		setForms(&q.terms[i])
	}
	if q.decision {
		q.terms = append(q.terms, archive.Term{Text: "decided", Forms: decidedForms, Weight: 1})
	}
	return q
}

// sentences splits a text after its punctuation and lines. A sentence keeps its mark.
func sentences(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from := 0
		for i, r := range s {
			end := i + utf8.RuneLen(r)
			switch r {
			case '.', '?', '!', ';': // inside a word they are part of a name
				if next, _ := utf8.DecodeRuneInString(s[end:]); end < len(s) && !unicode.IsSpace(next) {
					continue
				}
			case '\n', '。', '！', '？', '؟', '\u037e':
			default:
				continue
			}
			if !yield(s[from:end]) {
				return
			}
			from = end
		}
		if from < len(s) {
			yield(s[from:])
		}
	}
}

// asks reports whether a sentence asks for knowledge from earlier work: not for work, and
// not about what is in the context.
func asks(sentence string) bool {
	words := strings.FieldsFunc(strings.ToLower(sentence), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && r != '\'' && r != '’'
	})
	before, present := "", false
	for i, typed := range words {
		w := terms.Index(typed)
		if i < beginning && listed(memoryWords, w) {
			return true
		}
		if i < beginning && (listed(orderWords, typed) || listed(orderWords, before+"-"+w)) {
			return false
		}
		present = present || listed(presentWords, w)
		before = w
	}
	if present || containsPart(sentence, presentParts, " ") {
		return false
	}
	sentence = strings.TrimSpace(sentence)
	mark, _ := utf8.DecodeLastRuneInString(sentence)
	return strings.ContainsRune("?？؟\u037e", mark) || mark == ';' && has(sentence, unicode.Greek) ||
		hasCJK(sentence) && containsPart(sentence, askParts, " ") || beginsAsking(words)
}

// looksBack reports whether a question with one subject is about earlier work, not about
// the work at hand: "why did the canary fail", not "is there a ticket".
func looksBack(asked string) bool {
	english, past, before := false, false, ""
	for _, w := range strings.FieldsFunc(strings.ToLower(asked), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if listed(backWords, w) {
			return false
		}
		english = english || listed(englishAskWords, w) || listed(auxiliaries, w)
		past = past || listed(pastWords, w) || listed(pastVerbs, w) && listed(englishAskWords, before)
		before = w
	}
	return past || !english
}

// beginsAsking reports whether the words of a sentence without a question mark begin like
// a question.
func beginsAsking(words []string) bool {
	for len(words) > 0 && listed(openers, words[0]) {
		words = words[1:]
	}
	if len(words) > 1 && !listed(askWords, terms.Index(words[0])) {
		words = words[1:] // after a preposition
	}
	if len(words) == 0 || !listed(askWords, terms.Index(words[0])) {
		return false
	}
	if !listed(englishAskWords, words[0]) || len(words) == 1 {
		return true
	}
	return !listed(pronouns, words[1]) && slices.ContainsFunc(words[1:min(len(words), beginning)], func(w string) bool { return listed(auxiliaries, w) })
}

// hasCJK reports whether s contains a script without spaces between words.
func hasCJK(s string) bool {
	return has(s, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// withoutFrame replaces the parts of a Chinese, Japanese or Korean sentence that are not
// its subject by spaces: asking parts, and hiragana, which are mostly endings.
func withoutFrame(s string) string {
	if !hasCJK(s) {
		return s
	}
	for part := range strings.FieldsSeq(frameParts) {
		s = strings.ReplaceAll(s, part, " ")
	}
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.Is(unicode.Hiragana, r) }), " ")
}
