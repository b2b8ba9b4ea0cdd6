package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// A word that no passage contains is replaced by a synonym among developers ("signin"
// for "login"), or else by the indexed word with the fewest typos: a missing, added,
// wrong or transposed letter (the restricted Damerau-Levenshtein distance). Queries
// with a hit for all words are not corrected and pay nothing.
const (
	minTypo     = 4 // length of the shortest word that is corrected
	minTypoHead = 6 // of one whose first letter can be wrong: "lock" is not "clock"
	minTwoTypos = 8 // of one with two typos, after the first twoTypoStem letters
	twoTypoStem = 3
	// maxProbed is the length of the longest word whose variants are all looked up, 54
	// for each letter. Longer words need a correct start.
	maxProbed = 16
	maxStem   = 4000 // indexed words with the same start that are compared
	// maxCorrected is the number of words of a query that are corrected. Pasted text has
	// many unknown words.
	maxCorrected    = 4
	correctedWeight = 0.9 // relative to a typed word
	// maxCorrectable is the largest number of words of a query that is corrected although
	// it has hits. Corrections take about 20 ms in an archive of 90,000 passages, and the
	// other words of a long question are enough.
	maxCorrectable = 4
)

// Correction is a word of a query that no passage contains, and its replacement.
type Correction struct {
	Typed  string `json:"typed"`
	Sought string `json:"sought"`
	// Kin means that Sought is a synonym and not another spelling.
	Kin bool `json:"kin,omitempty"`
}

// String returns a note for the user.
func (c Correction) String() string {
	if c.Kin {
		return fmt.Sprintf("No passage contains %q; searched for the synonym %q instead.", c.Typed, c.Sought)
	}
	return fmt.Sprintf("No passage contains %q. Did you mean %q? Searched for that instead.", c.Typed, c.Sought)
}

// correct runs a variant again with corrected words, unless a hit has all words, and
// replaces the hits of res if there are any.
func (s *search) correct(ctx context.Context, v variant, res *Result) error {
	if slices.ContainsFunc(res.Hits, containsAllWords) || len(res.Hits) > 0 && len(v.query.Terms) > maxCorrectable || s.req.AsTyped || s.written != nil {
		return nil
	}
	v, made, err := s.corrected(ctx, v, wordsOf(res.Hits))
	if err != nil || made == nil {
		return err
	}
	s.query.Terms, s.corrections = v.query.Terms, made // for markFiltered
	s.req.Text, s.matches = replaceWords(s.req.Text, made), nil
	if v.query.Also, err = s.nearestPassages(ctx); err != nil {
		return err
	}
	hits, err := s.run(ctx, v)
	if len(hits) > 0 {
		res.Hits, res.Terms, res.Corrected = hits, v.query.Terms, made
	}
	return err
}

// replaceWords applies corrections to a query's text, which is embedded.
func replaceWords(text string, made []Correction) string {
	words := strings.Fields(text)
	for i, w := range words {
		if at := slices.IndexFunc(made, func(c Correction) bool { return strings.EqualFold(w, c.Typed) }); at >= 0 {
			words[i] = made[at].Sought
		}
	}
	return strings.Join(words, " ")
}

// containsAllWords reports whether a hit contains all words of the query, allowing for
// rounding.
func containsAllWords(h Hit) bool { return h.Why.Covered > 0.999 }

// wordsOf returns the words of the hits, which need not be looked up: a lookup takes
// more than 0.5 ms in a large archive.
func wordsOf(hits []Hit) map[string]bool {
	words := map[string]bool{}
	for i := range hits {
		addWords(words, hits[i].Text)
	}
	return words
}

// addWords adds the words of a text, as indexed, to a set.
func addWords(words map[string]bool, text string) {
	for w := range strings.FieldsSeq(terms.Index(text)) {
		words[w] = true
	}
}

// corrected returns the variant with replacements for the words that no passage
// contains in any form, and the corrections made. known are words of passages.
func (s *search) corrected(ctx context.Context, v variant, known map[string]bool) (variant, []Correction, error) {
	unknown, err := s.unknownTerms(ctx, v.query.Terms, known)
	if err != nil {
		return v, nil, err
	}
	var made []Correction
	v.query.Terms = slices.Clone(v.query.Terms)
	for _, i := range unknown[:min(len(unknown), maxCorrected)] {
		t := &v.query.Terms[i]
		word, err := s.mostUsed(ctx, terms.Synonyms(t.Text))
		synonym := word != ""
		if err == nil && !synonym {
			word, err = s.nearest(ctx, t.Text)
		}
		if err != nil {
			return v, nil, err
		}
		if word == "" {
			continue
		}
		made = append(made, Correction{Typed: t.Text, Sought: word, Kin: synonym})
		t.Text, t.Forms, t.Weight = word, strings.Join(terms.Forms(word), " "), t.Weight*correctedWeight
	}
	return v, made, nil
}

// unknownTerms returns the indexes of the correctable terms that no passage contains
// in any form.
func (s *search) unknownTerms(ctx context.Context, ts []archive.Term, known map[string]bool) (unknown []int, err error) {
	var words []string // of each candidate, all forms
	var owner []int    // the term of each word
	for i, t := range ts {
		if !correctable(t) {
			continue
		}
		forms := append([]string{t.Text}, strings.Fields(t.Forms)...)
		if slices.ContainsFunc(forms, func(w string) bool { return known[w] }) {
			continue
		}
		unknown = append(unknown, i)
		words, owner = append(words, forms...), append(owner, slices.Repeat([]int{i}, len(forms))...)
	}
	counts, err := s.store.WordCounts(ctx, words)
	if err != nil {
		return nil, err
	}
	indexed := map[int]bool{}
	for k, n := range counts {
		indexed[owner[k]] = indexed[owner[k]] || n > 0
	}
	return slices.DeleteFunc(unknown, func(i int) bool { return indexed[i] }), nil
}

// correctable reports whether a term can have a typo: it is neither quoted nor a
// prefix, and has letters only, because another digit makes another number.
func correctable(t archive.Term) bool {
	return !t.Must && !t.Prefix && len(t.Text) >= minTypo && !strings.ContainsFunc(t.Text, func(r rune) bool { return r < 'a' || r > 'z' })
}

// nearest returns the indexed word with the fewest typos, and the most used of several,
// or "".
func (s *search) nearest(ctx context.Context, word string) (string, error) {
	if known, err := s.isWord(ctx, word); known || err != nil {
		return "", err
	}
	if len(word) <= maxProbed {
		best, err := s.mostUsed(ctx, typosOf(word))
		if best != "" || err != nil || len(word) < minTwoTypos {
			return best, err
		}
	}
	similar, err := s.store.WordsFrom(ctx, word[:twoTypoStem], maxStem)
	if err != nil {
		return "", err
	}
	var byTypos [3][]string
	for _, w := range similar {
		if n := typoDistance(word, w, 2); n <= 2 {
			byTypos[max(n, 1)] = append(byTypos[max(n, 1)], w)
		}
	}
	for _, words := range byTypos[1:] {
		if best, err := s.mostUsed(ctx, words); best != "" || err != nil {
			return best, err
		}
	}
	return "", nil
}

// isWord reports whether the embedder knows a word. With a typo it is then another word:
// "conclusion" is not "confusion", "patched" is not "matched".
func (s *search) isWord(ctx context.Context, word string) (bool, error) {
	if s.embedder == nil {
		return false, nil
	}
	vectors, err := s.embedder.Embed(ctx, []string{word})
	return len(vectors) == 1 && vectors[0] != nil, err
}

// mostUsed returns the word that most passages contain, the first of equals, or "".
func (s *search) mostUsed(ctx context.Context, words []string) (best string, err error) {
	counts, err := s.store.WordCounts(ctx, words)
	most := 0
	for i, n := range counts {
		if n > most {
			best, most = words[i], n
		}
	}
	return best, err
}

// typosOf returns all words with one typo. The first letter of a short word is kept.
func typosOf(word string) []string {
	out := make([]string, 0, 54*len(word)+26)
	for i := range len(word) + 1 {
		head, tail := word[:i], word[i:]
		if len(tail) > 1 && tail[0] != tail[1] {
			out = append(out, head+tail[1:2]+tail[:1]+tail[2:])
		}
		if i == 0 && len(word) < minTypoHead {
			continue
		}
		for c := byte('a'); c <= 'z'; c++ {
			out = append(out, head+string(c)+tail)
			if tail != "" && tail[0] != c {
				out = append(out, head+string(c)+tail[1:])
			}
		}
		if tail != "" {
			out = append(out, head+tail[1:])
		}
	}
	return out
}

// Similar reports whether two names start with the same four letters, or differ by at most
// a typo for every three letters, ignoring case.
func Similar(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	const start = 4
	typos := min(len(a)/3, 2)
	return len(a) >= start && len(b) >= start && a[:start] == b[:start] || typos > 0 && typoDistance(a, b, typos) <= typos
}

// typoDistance returns the number of typos between two words, or limit+1 if there are
// more than limit.
func typoDistance(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit || len(b) > terms.MaxTerm || len(a) > terms.MaxTerm {
		return limit + 1
	}
	var rows [3][terms.MaxTerm + 1]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			differ := 1
			if a[i-1] == b[j-1] {
				differ = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differ)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
