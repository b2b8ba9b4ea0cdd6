package lexical

import (
	"slices"

	"strandline/internal/archive"
)

// List names the passages that hold one term, as a store lists them.
type List struct {
	Term archive.Term
	// Strong and Weak are the ids of the passages in whose row the term stands
	// with and without StrongMark, each in ascending order. A prefix term has
	// all of them in Weak, without repetition.
	Strong, Weak []int64
}

// DF is the number of passages that hold the term.
func (l *List) DF() int { return len(l.Strong) + len(l.Weak) }

// Candidate is a passage with a first estimate of its score.
type Candidate struct {
	ID    int64
	Score float32
	// terms has a bit for each list that holds the passage.
	terms uint64
	// What Lift found, as shares of the best: its own words, the words that only
	// the passage before it has, those of its session.
	Words, Before, Session float32
}

// Merge adds up the lists' impacts per passage, weighed by how rare each term is
// among n passages, and returns the candidates in ascending order of their ids.
func Merge(lists []List, n int) []Candidate {
	var runs [][]Candidate
	for i := range lists {
		l := &lists[i]
		weight := l.weight(n)
		bit := uint64(1) << (i % 64) // a query has at most terms.MaxQuery words and some files
		runs = append(runs, run(l.Strong, weight*strongImpact, bit), run(l.Weak, weight*weakImpact, bit))
	}
	// Merging neighbours pairwise touches each posting log(runs) times.
	for len(runs) > 1 {
		half := runs[:0]
		for i := 0; i+1 < len(runs); i += 2 {
			half = append(half, join(runs[i], runs[i+1]))
		}
		if len(runs)%2 == 1 {
			half = append(half, runs[len(runs)-1])
		}
		runs = half
	}
	if len(runs) == 0 {
		return nil
	}
	return runs[0]
}

func run(ids []int64, score float64, bit uint64) []Candidate {
	r := make([]Candidate, len(ids))
	for i, id := range ids {
		r[i] = Candidate{ID: id, Score: float32(score), terms: bit}
	}
	return r
}

func join(x, y []Candidate) []Candidate {
	if len(x) == 0 {
		return y
	}
	if len(y) == 0 {
		return x
	}
	out := make([]Candidate, 0, len(x)+len(y))
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0].ID < y[0].ID:
			out = append(out, x[0])
			x = x[1:]
		case x[0].ID > y[0].ID:
			out = append(out, y[0])
			y = y[1:]
		default:
			out = append(out, Candidate{ID: x[0].ID, Score: x[0].Score + y[0].Score, terms: x[0].terms | y[0].terms})
			x, y = x[1:], y[1:]
		}
	}
	return append(append(out, x...), y...)
}

// Sort orders candidates, best first; between equals the larger id, which is
// the newer passage, comes first.
func Sort(c []Candidate) { slices.SortFunc(c, compare) }

func compare(x, y Candidate) int {
	switch {
	case x.Score > y.Score:
		return -1
	case x.Score < y.Score:
		return 1
	case x.ID > y.ID:
		return -1
	case x.ID < y.ID:
		return 1
	}
	return 0
}

// Top moves the k best candidates to the front, in order, and returns them. It
// is a heap of size k over one pass, since there may be a hundred thousand
// candidates for fifty places.
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

// sink restores the heap, whose root is its worst candidate, below i.
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

// Union returns what x or y holds; both ascend.
func Union(x, y []int64) []int64 {
	if len(x) == 0 {
		return y
	}
	if len(y) == 0 {
		return x
	}
	out := make([]int64, 0, len(x)+len(y))
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

// Without returns what x holds and y does not; both ascend. It reuses x.
func Without(x, y []int64) []int64 {
	kept := x[:0]
	for _, id := range x {
		for len(y) > 0 && y[0] < id {
			y = y[1:]
		}
		if len(y) == 0 || y[0] != id {
			kept = append(kept, id)
		}
	}
	return kept
}
