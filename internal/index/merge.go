package index

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// List holds the passages with one term.
type List struct {
	Term archive.Term
	// Strong and Weak are the IDs of the passages whose row has the term with and
	// without StrongMark, each in ascending order. A prefix term has all in Weak.
	Strong, Weak []int64
}

// Lists returns the passages that hold each term, within the bounds of the scope. If some
// terms are required, passages without one of them are left out. With limit > 0 each list
// holds at most that many passages, the newest ones.
func Lists(ctx context.Context, tx Tx, terms []archive.Term, scope *Scope, limit int) ([]List, error) {
	atMost := limit
	if slices.ContainsFunc(terms, func(t archive.Term) bool { return t.Must }) {
		atMost = 0 // the newest passages that hold all required terms may be old
	}
	var words, prefixes []string
	for _, t := range terms {
		if t.Prefix {
			prefixes = append(prefixes, t.Text)
		} else {
			words = append(words, Forms(t)...)
		}
	}
	found, err := tx.Postings(ctx, words, prefixes, scope, atMost)
	if err != nil {
		return nil, err
	}
	found, ofPrefixes := found[:len(words)], found[len(words):]
	lists := make([]List, len(terms))
	for i, t := range terms {
		l := &lists[i]
		l.Term = t
		if t.Prefix {
			l.Weak, ofPrefixes = ofPrefixes[0].Weak, ofPrefixes[1:]
			continue
		}
		for range Forms(t) {
			l.Strong, l.Weak, found = Union(l.Strong, found[0].Strong), Union(l.Weak, found[0].Weak), found[1:]
		}
	}
	require(lists)
	for i := range lists {
		lists[i].Strong, lists[i].Weak = Newest(lists[i].Strong, limit), Newest(lists[i].Weak, limit)
	}
	return lists, nil
}

// require deletes passages from the lists that do not hold every other required term.
func require(lists []List) {
	all := make([][]int64, len(lists))
	for i := range lists {
		if lists[i].Term.Must {
			all[i] = Union(lists[i].Strong, lists[i].Weak)
		}
	}
	for i := range lists {
		for j, with := range all {
			if j != i && lists[j].Term.Must {
				lists[i].Strong, lists[i].Weak = intersect(lists[i].Strong, with), intersect(lists[i].Weak, with)
			}
		}
	}
}

// intersect returns the IDs in both x and y, which ascend.
func intersect(x, y []int64) []int64 {
	return appendThose(make([]int64, 0, min(len(x), len(y))), x, y, true)
}

// appendThose appends the IDs of x that are in y to dst, or those that are not.
func appendThose(dst, x, y []int64, inY bool) []int64 {
	for _, id := range x {
		for len(y) > 0 && y[0] < id {
			y = y[1:]
		}
		if (len(y) > 0 && y[0] == id) == inY {
			dst = append(dst, id)
		}
	}
	return dst
}

// DF returns the number of passages with the term.
func (l *List) DF() int { return len(l.Strong) + len(l.Weak) }

// Candidate is a passage with a first estimate of its score.
type Candidate struct {
	ID int64
	// terms has a bit for each list that holds the passage.
	terms uint64
	Score float32
	// Set by Lift, as shares of the best candidate: its own words, the words that only
	// the passage before it has, and those of its session.
	Words, Before, Session float32
}

// run holds passages of one list that get the same score.
type run struct {
	ids   []int64
	score float32
	bit   uint64
}

// window is the number of places that Merge adds up at once, so that their sums fit into
// the processor's cache.
const window = 1 << 12

// sum is the sum of the lists at one place.
type sum struct {
	id    int64
	terms uint64
	score float32
}

// Merge adds up the impacts of all lists per passage, weighted by how rare each term is
// among n passages, and returns the candidates in ascending order of their IDs. No two IDs
// may have the same place.
//
// It processes the places in windows, and each window list by list. A common word has
// thousands of passages, and each is visited twice for any number of words.
func (s Shape) Merge(lists []List, n int) []Candidate {
	var runs []run
	total := 0
	for i := range lists {
		l := &lists[i]
		weight := l.weight(n)
		bit := uint64(1) << (i % 64) // a query has at most terms.MaxQuery words and some files
		runs = append(runs, run{l.Strong, float32(weight * strongImpact), bit}, run{l.Weak, float32(weight * weakImpact), bit})
		total += l.DF()
	}
	if total == 0 {
		return nil
	}
	out := make([]Candidate, 0, total)
	sums := make([]sum, window)
	var touched [window / 64]uint64
	for {
		next := int64(math.MaxInt64)
		for _, r := range runs {
			if len(r.ids) > 0 {
				next = min(next, r.ids[0])
			}
		}
		if next == math.MaxInt64 {
			return out
		}
		first := s.place(next)
		for i := range runs {
			s.add(&runs[i], first, sums, &touched)
		}
		for w, set := range touched {
			for ; set != 0; set &= set - 1 {
				x := &sums[w*64+bits.TrailingZeros64(set)]
				out = append(out, Candidate{ID: x.id, Score: x.score, terms: x.terms})
				*x = sum{}
			}
			touched[w] = 0
		}
	}
}

// add moves the passages of a run in the window that begins at a place to sums.
func (s Shape) add(r *run, first int64, sums []sum, touched *[window / 64]uint64) {
	for i, id := range r.ids {
		at := uint64(s.place(id) - first)
		if at >= window {
			r.ids = r.ids[i:]
			return
		}
		x := &sums[at]
		x.id, x.score, x.terms = id, x.score+r.score, x.terms|r.bit
		touched[at/64] |= 1 << (at % 64)
	}
	r.ids = nil
}

// Sort orders candidates, best first. Of equal ones the larger ID, which is the newer
// passage, comes first.
func Sort(c []Candidate) { slices.SortFunc(c, compare) }

func compare(x, y Candidate) int {
	if x.Score != y.Score {
		return cmp.Compare(y.Score, x.Score)
	}
	return cmp.Compare(y.ID, x.ID)
}

// Top moves the k best candidates to the front, in order, and returns them. It uses a heap
// of size k, since there may be a hundred thousand candidates.
func Top(c []Candidate, k int) []Candidate {
	if len(c) <= k {
		Sort(c)
		return c
	}
	heap := c[:k]
	for i := k/2 - 1; i >= 0; i-- {
		sink(heap, i)
	}
	for i := k; i < len(c); i++ {
		if compare(c[i], heap[0]) < 0 {
			c[i], heap[0] = heap[0], c[i]
			sink(heap, 0)
		}
	}
	Sort(heap)
	return heap
}

// sink restores the heap below i. The root is the worst candidate.
func sink(h []Candidate, i int) {
	for {
		worst := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h); c++ {
			if compare(h[c], h[worst]) > 0 {
				worst = c
			}
		}
		if worst == i {
			return
		}
		h[i], h[worst] = h[worst], h[i]
		i = worst
	}
}

// Union returns the IDs in x or y, which ascend.
func Union(x, y []int64) []int64 {
	if len(x) == 0 {
		return y
	}
	if len(y) == 0 {
		return x
	}
	out := make([]int64, 0, len(x)+len(y))
	switch {
	case x[len(x)-1] < y[0]:
		return append(append(out, x...), y...)
	case y[len(y)-1] < x[0]:
		return append(append(out, y...), x...)
	}
	for len(x) > 0 && len(y) > 0 {
		least := min(x[0], y[0])
		out = append(out, least)
		if x[0] == least {
			x = x[1:]
		}
		if len(y) > 0 && y[0] == least {
			y = y[1:]
		}
	}
	return append(append(out, x...), y...)
}

// Without returns the IDs in x that are not in y; both ascend. It reuses the memory of x.
func Without(x, y []int64) []int64 { return appendThose(x[:0], x, y, false) }

// Newest returns the last limit IDs of an ascending list, all if limit is 0.
func Newest(ids []int64, limit int) []int64 {
	if limit > 0 && len(ids) > limit {
		return ids[len(ids)-limit:]
	}
	return ids
}

// Forms returns a term's word and its other forms.
func Forms(t archive.Term) []string { return append([]string{t.Text}, strings.Fields(t.Forms)...) }
