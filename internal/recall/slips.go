package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// A word that no passage holds may be a slip of the typing hand. It is looked for
// as the indexed word that is fewest slips away: a letter missing, too many,
// another one, or two changed about (the distance of Damerau and Levenshtein, in
// its restricted form). Before that, words that developers use for the same thing are
// tried: nobody may have said "login" where everybody said "signin". Common queries pay nothing: where a hit holds all the
// words, nothing is looked up.

const (
	// minSlip is the shortest word that is corrected: a shorter one is a slip
	// away from too many.
	minSlip = 4
	// minFirst is the shortest word whose first letter may be wrong or missing:
	// "lock" is no "clock".
	minFirst = 6
	// minSlips is the shortest word that may hold two slips. They stand behind
	// its first slipStem letters, so that not every word has to be looked at.
	minSlips = 8
	slipStem = 3
	// maxProbed is the longest word whose every slip is looked up: that is
	// 54 words for each of its letters. A longer one has to begin right; mostly it
	// is words joined, which are looked for by themselves as well.
	maxProbed = 16
	// maxStem is how many words that begin like one are looked at.
	maxStem = 4000
	// maxSlipped is how many words of a query are tried: one pasted from elsewhere
	// is full of words that nobody used here.
	maxSlipped = 4
	// slipWeight is what a corrected word counts beside one that was typed.
	slipWeight = 0.9
)

// Correction is a word of a query that no passage holds, and the one that was
// looked for in its place.
type Correction struct {
	Typed  string `json:"typed"`
	Sought string `json:"sought"`
	// Kin says that Sought is another word for the same thing, not another spelling.
	Kin bool `json:"kin,omitempty"`
}

// String says what was done, for a person.
func (c Correction) String() string {
	if c.Kin {
		return fmt.Sprintf("No passage holds %q. %q is another word for it and was looked for instead.", c.Typed, c.Sought)
	}
	return fmt.Sprintf("No passage holds %q. Did you mean %q? That was looked for instead.", c.Typed, c.Sought)
}

// respell answers again with the slips of a reading corrected, unless a hit holds
// all its words. Its hits replace those of
// res if there are any.
func (s *search) respell(ctx context.Context, rd reading, res *Result) error {
	if slices.ContainsFunc(res.Hits, holdsAll) {
		return nil
	}
	if len(res.Hits) > 0 && len(rd.query.Terms) > maxRespelled {
		return nil
	}
	rd, made, err := s.corrected(ctx, rd, known(res.Hits))
	if err != nil || made == nil {
		return err
	}
	s.query.Terms = rd.query.Terms // what lies aside is looked for as well
	s.req.Text = respelled(s.req.Text, made)
	hits, err := s.run(ctx, rd)
	s.made = made
	if len(hits) > 0 {
		res.Hits, res.Terms, res.Corrected = hits, rd.query.Terms, made
	}
	return err
}

// maxRespelled is the most words of a query that is answered again where some of
// them were found: the others of a long question carry it, and looking up what
// a word may have meant takes some 20 ms in an archive of 90,000 passages.
const maxRespelled = 4

// respelled puts corrections into a query's text, whose meaning is asked too.
func respelled(text string, made []Correction) string {
	words := strings.Fields(text)
	for i, w := range words {
		for _, c := range made {
			if strings.EqualFold(w, c.Typed) {
				words[i] = c.Sought
			}
		}
	}
	return strings.Join(words, " ")
}

// allCovered is the share of a query that a hit with all of its words covers, but
// for what adding up fractions loses.
const allCovered = 0.999

// holdsAll reports whether a hit has all words of the query.
func holdsAll(h Hit) bool { return h.Why.Covered > allCovered }

// known returns the words that hits hold. Asking the index for a word costs more
// than half a millisecond in a large archive, and most words of a question stand
// in one of its hits.
func known(hits []Hit) map[string]bool {
	words := map[string]bool{}
	var buf []byte
	for i := range hits {
		buf = terms.AppendTo(buf[:0], hits[i].Text)
		for w := range strings.FieldsSeq(string(buf)) {
			words[w] = true
		}
	}
	return words
}

// corrected returns the reading with other words for those that no passage
// holds in any form, and which; the words in known are held. There are none if
// all are known or none is near.
func (s *search) corrected(ctx context.Context, rd reading, known map[string]bool) (reading, []Correction, error) {
	there := make([]int, len(rd.query.Terms))
	var asked []string // each word, then its other forms, which do as well
	var of []int
	for i, t := range rd.query.Terms {
		if !correctable(t) {
			continue
		}
		forms := append([]string{t.Text}, strings.Fields(t.Forms)...)
		if slices.ContainsFunc(forms, func(w string) bool { return known[w] }) {
			there[i]++
			continue
		}
		for _, w := range forms {
			asked, of = append(asked, w), append(of, i)
		}
	}
	counts, err := s.store.WordCounts(ctx, asked)
	if err != nil {
		return rd, nil, err
	}
	for k, n := range counts {
		there[of[k]] += n
	}
	var made []Correction
	tried := 0
	for i, t := range rd.query.Terms {
		if there[i] > 0 || tried == maxSlipped || !correctable(t) {
			continue
		}
		tried++
		word, err := mostUsed(ctx, s.store, terms.Synonyms(t.Text))
		kin := word != ""
		if err == nil && !kin {
			word, err = nearest(ctx, s.store, t.Text)
		}
		if err != nil {
			return rd, nil, err
		}
		if word == "" {
			continue
		}
		if made == nil {
			rd.query.Terms = slices.Clone(rd.query.Terms)
		}
		made = append(made, Correction{Typed: t.Text, Sought: word, Kin: kin})
		t.Text, t.Forms, t.Weight = word, strings.Join(terms.Forms(word), " "), t.Weight*slipWeight
		rd.query.Terms[i] = t
	}
	return rd, made, nil
}

// correctable reports whether a term is a word that may be mistyped: not quoted,
// not the beginning of another, and of letters only, since a number or a hash
// that is one digit away is another one.
func correctable(t archive.Term) bool {
	if t.Must || t.Prefix || len(t.Text) < minSlip {
		return false
	}
	for i := range len(t.Text) {
		if c := t.Text[i]; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// nearest returns the indexed word fewest slips away from one that is not
// indexed, the most used of several; empty if there is none within reach.
func nearest(ctx context.Context, s SearchStore, word string) (string, error) {
	if len(word) <= maxProbed {
		best, err := mostUsed(ctx, s, oneSlip(word))
		if best != "" || err != nil || len(word) < minSlips {
			return best, err
		}
	}
	same, err := s.WordsFrom(ctx, word[:slipStem], maxStem)
	if err != nil {
		return "", err
	}
	var one, two []string
	for _, w := range same {
		switch n := slips(word, w, 2); {
		case n <= 1:
			one = append(one, w)
		case n == 2:
			two = append(two, w)
		}
	}
	best, err := mostUsed(ctx, s, one)
	if best != "" || err != nil {
		return best, err
	}
	return mostUsed(ctx, s, two)
}

// mostUsed returns the word that most passages hold, the first of equals.
func mostUsed(ctx context.Context, s SearchStore, words []string) (best string, err error) {
	counts, err := s.WordCounts(ctx, words)
	most := 0
	for i, n := range counts {
		if n > most {
			best, most = words[i], n
		}
	}
	return best, err
}

// oneSlip lists every word of letters that is one slip away from word, but for
// slips in the first letter of a short one.
func oneSlip(word string) []string {
	out := make([]string, 0, 54*len(word)+26)
	for i := range len(word) + 1 {
		head, tail := word[:i], word[i:]
		if len(tail) > 1 && tail[0] != tail[1] {
			out = append(out, head+tail[1:2]+tail[:1]+tail[2:])
		}
		if i == 0 && len(word) < minFirst {
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

// slips counts the slips between two words of letters, or returns more than most
// if there are more.
func slips(a, b string, most int) int {
	if d := len(a) - len(b); d > most || -d > most || len(b) > terms.MaxTerm || len(a) > terms.MaxTerm {
		return most + 1
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
		if least > most {
			return most + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
