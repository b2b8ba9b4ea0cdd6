package index

import (
	"bytes"
	"strings"

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
		}
	}
	// Typed words take precedence over the forms of other words.
	for i, w := range r.words {
		if !w.Prefix {
			r.exact[w.Text] = i
		}
	}
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
	e.Words *= KindWeight(p.Kind)
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
