package index

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// Ranker scores passages by their text.
type Ranker struct {
	words  []word
	exact  map[string]int // index into words by term or form
	prefix []int          // indexes into words
	buf    []byte
	counts []float64
	seen   []int  // the last position of each word, -1: none
	joined []bool // whether each word followed the previous word of the query
	total  float64
	answer archive.AnswerType
	named  bool // whether the passage contains the answer type
}

type word struct {
	archive.Term
	idf float64
}

// nearby is the maximal distance in terms at which two adjacent words of the query count as
// adjacent: stop words between them are not part of a query.
const nearby = 4

// NewRanker returns a Ranker for the terms of lists among n passages, and for the query's
// answer type. It is not safe for concurrent use.
func NewRanker(lists []List, n int, answer archive.AnswerType) *Ranker {
	r := &Ranker{answer: answer, exact: map[string]int{}, counts: make([]float64, len(lists)), seen: make([]int, len(lists)), joined: make([]bool, len(lists))}
	for i := range lists {
		t := lists[i].Term
		r.words = append(r.words, word{Term: t, idf: idf(lists[i].DF(), n)})
		r.total += lists[i].weight(n)
		if t.Prefix {
			r.prefix = append(r.prefix, i)
		} else {
			r.exact[t.Text] = i
		}
	}
	// Typed words take precedence over the forms of other words.
	for i, w := range r.words {
		for f := range strings.FieldsSeq(w.Forms) {
			if _, ok := r.exact[f]; !ok {
				r.exact[f] = i
			}
		}
	}
	return r
}

// Score returns the evidence in a passage's text. Words is the BM25 score of the query's
// terms, times KindWeight; it is zero if no term occurs, and negative if a required term is
// missing. Lift, Turn and Follow set the evidence from other passages.
func (r *Ranker) Score(p *archive.Passage) (e archive.Evidence) {
	clear(r.counts)
	clear(r.joined)
	for i := range r.seen {
		r.seen[i] = -1
	}
	r.named = false
	r.buf = terms.AppendTo(r.buf[:0], p.Text)
	size := r.tally(1)
	if r.named {
		e.AnswerType = 1
	}
	if r.hasAny(speakers(p.Text)) {
		e.Speaker = 1
	}
	if endsAsking(p.Text) {
		e.Question = 1
	}
	for _, path := range p.Paths {
		r.buf = terms.AppendTo(r.buf[:0], path)
		r.tally(pathWeight)
	}
	for i, w := range r.words {
		switch {
		case r.counts[i] > 0:
			e.Words += w.Weight * w.idf * impact(r.counts[i], size)
			e.Covered += w.Weight * w.idf
			e.Matched |= 1 << i
		case w.Must:
			return archive.Evidence{Words: -1}
		}
		if r.joined[i] {
			e.Near++
		}
	}
	if len(r.words) > 1 {
		e.Near /= float64(len(r.words) - 1)
	}
	if r.total > 0 {
		e.Covered /= r.total
	}
	e.Words *= kindWeights[KindCode(p.Kind)]
	return e
}

// tally counts the query's terms in buf and returns the number of all terms in it.
func (r *Ranker) tally(weight float64) (size float64) {
	rest := r.buf
	var before []byte
	for at := 0; len(rest) > 0; at++ {
		n := 0
		for n < len(rest) && rest[n] != ' ' {
			n++
		}
		term := rest[:n]
		size++
		if r.answer != 0 && !r.named {
			r.named = terms.AnswerIn(before, term)&r.answer != 0
			before = term
		}
		if i, ok := r.exact[string(term)]; ok {
			r.count(i, weight, at)
		}
		for _, i := range r.prefix {
			if want := r.words[i].Text; len(term) >= len(want) && string(term[:len(want)]) == want {
				r.count(i, weight, at)
			}
		}
		rest = rest[min(n+1, len(rest)):]
	}
	return size
}

// count records an occurrence of word i at a position.
func (r *Ranker) count(i int, weight float64, at int) {
	r.counts[i] += weight
	r.seen[i] = at
	if i > 0 && r.seen[i-1] >= 0 && at >= r.seen[i-1] && at-r.seen[i-1] <= nearby {
		r.joined[i] = true
	}
}

// hasAny reports whether one of the first n terms in buf is a word of the query.
func (r *Ranker) hasAny(n int) bool {
	rest := r.buf
	for range n {
		term, more, _ := bytes.Cut(rest, []byte{' '})
		if _, ok := r.exact[string(term)]; ok {
			return true
		}
		rest = more
	}
	return false
}

// The parameters of BM25, and the length of an average passage in terms. A constant
// average makes scores independent of the other contents of the archive.
const (
	k1        = 1.2
	b         = 0.75
	usualSize = 160
)

// StrongMark is appended to a term in a passage's row if its impact is high: the term occurs
// often, or the passage is short. Terms contain no superscripts, so none ends with it.
const StrongMark = "²"

// strongFrom is the impact from which a term is marked. strongImpact and weakImpact are the
// average impacts above and below it.
const (
	strongFrom   = 1.25
	strongImpact = 1.6
	weakImpact   = 0.8
)

// impact returns BM25's saturated weight of tf occurrences among size terms.
func impact(tf, size float64) float64 { return tf * (k1 + 1) / (tf + k1*(1-b+b*size/usualSize)) }

// idf returns the weight of a term that occurs in df of n passages. It is not negative.
func idf(df, n int) float64 { return math.Log1p((float64(max(n-df, 0)) + 0.5) / (float64(df) + 0.5)) }

// KindWeight returns the factor of a passage's score for its kind: text of the user and the
// agent counts more than output of tools.
var kindWeights = [1 << KindBits]float64{1, 1.15, 1.05, 1, 1, 0.85, 1.05, 1}

// Three cues of a passage count as much as a matching word: its speaker, whether it is a
// question, and whether the passage before it is one. "What did Ann bake?" is answered by
// a passage that begins with "Ann: ", or that follows "Ann, what did you bake?".

// maxSpeaker is the maximal size in bytes of a speaker's name at the start of a passage.
const maxSpeaker = 30

// speakers returns the number of words in the name of the speaker at the start of a text:
// 1 for "Ann: yes", 2 for "Ann Lee: yes", 0 if there is none.
func speakers(text string) int {
	name, rest, found := strings.Cut(text[:min(len(text), maxSpeaker)], ":")
	if !found || len(name) < 2 || rest != "" && rest[0] != ' ' {
		return 0
	}
	words := 1
	for i, r := range name {
		switch {
		case r == ' ' && i > 0 && words == 1:
			words++
		case !unicode.IsLetter(r):
			return 0
		}
	}
	return words
}

// endsAsking reports whether a text's last sentence is a question. A note in square brackets
// after it, such as the placeholder of an image, is ignored.
func endsAsking(text string) bool {
	text = strings.TrimRightFunc(text, isClosing)
	if strings.HasSuffix(text, "]") {
		if open := strings.LastIndexByte(text, '['); open > 0 {
			text = strings.TrimRightFunc(text[:open], isClosing)
		}
	}
	r, _ := utf8.DecodeLastRuneInString(text)
	return r == '?' || r == '？'
}

// isClosing reports whether r can follow the last sentence of a text.
func isClosing(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"'*_)`, r) }

// Follow sets the evidence of hits that directly follow another hit. If that one is a
// question, Answer is its share of the query's words: the answer itself rarely contains
// them.
func (s Shape) Follow(hits []*archive.Hit) {
	hits = slices.Clone(hits)
	slices.SortFunc(hits, func(a, b *archive.Hit) int { return cmp.Compare(a.ID, b.ID) })
	for i := 1; i < len(hits); i++ {
		h, before := hits[i], hits[i-1]
		if s.place(before.ID)+1 != s.place(h.ID) || s.session(before.ID) != s.session(h.ID) {
			continue
		}
		h.Evidence.Follows = before.ID
		if before.Evidence.Question > 0 {
			h.Evidence.Answer = before.Evidence.Covered
		}
	}
}
