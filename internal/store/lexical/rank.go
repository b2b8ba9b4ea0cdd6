package lexical

import (
	"strandline/internal/archive"
	"strandline/internal/terms"
)

// Ranker scores passages whose text is at hand.
type Ranker struct {
	words  []word
	exact  map[string]int // index into words
	prefix []int
	buf    []byte
	counts []float64
}

type word struct {
	archive.Term
	idf float64
}

// NewRanker returns a Ranker for the terms of lists among n passages. It is not
// safe for concurrent use.
func NewRanker(lists []List, n int) *Ranker {
	r := &Ranker{exact: map[string]int{}, counts: make([]float64, len(lists))}
	for i := range lists {
		t := lists[i].Term
		r.words = append(r.words, word{Term: t, idf: idf(lists[i].DF(), n)})
		if t.Prefix {
			r.prefix = append(r.prefix, i)
		} else {
			r.exact[t.Text] = i
		}
	}
	return r
}

// Score returns BM25 over the query's terms, times the weight of the passage's
// kind. It is zero if no term occurs, and negative if a Must term is missing.
func (r *Ranker) Score(p *archive.Passage) float64 {
	clear(r.counts)
	r.buf = terms.AppendTo(r.buf[:0], p.Text)
	size := r.tally(1)
	for _, path := range p.Paths {
		r.buf = terms.AppendTo(r.buf[:0], path)
		r.tally(pathWeight)
	}
	score := 0.0
	for i, w := range r.words {
		switch {
		case r.counts[i] > 0:
			score += w.Weight * w.idf * impact(r.counts[i], size)
		case w.Must:
			return -1
		}
	}
	return score * KindWeight(p.Kind)
}

// tally counts the query's terms in buf and returns the number of all terms.
func (r *Ranker) tally(weight float64) (size float64) {
	rest := r.buf
	for len(rest) > 0 {
		n := 0
		for n < len(rest) && rest[n] != ' ' {
			n++
		}
		term := rest[:n]
		size++
		if i, ok := r.exact[string(term)]; ok {
			r.counts[i] += weight
		}
		for _, i := range r.prefix {
			if want := r.words[i].Text; len(term) >= len(want) && string(term[:len(want)]) == want {
				r.counts[i] += weight
			}
		}
		rest = rest[min(n+1, len(rest)):]
	}
	return size
}
