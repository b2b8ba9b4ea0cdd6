package embed

import (
	"cmp"
	"context"
	"slices"
)

// Index finds the nearest vectors of one set. Flat is one; a graph, such as a
// database's HNSW, would be another.
type Index interface {
	// Search returns the k passages nearest to q, nearest first, by the cosine of
	// their best vector. q is a unit vector of the index's dimension. keep, unless
	// nil, tells which passages may be found; it is called from several goroutines.
	Search(ctx context.Context, q []float32, k int, keep func(passage int64) bool) (Found, error)
	Close() error
}

// Found is the answer of an Index.
type Found struct {
	Nearest []Neighbour
	// Mean and SD are of the cosines of all vectors that were allowed, estimated
	// from a sample: what a cosine is worth depends on the embedder and on what
	// it is compared with. N is the size of the sample.
	Mean, SD float64
	N        int
}

// Neighbour is a passage and its cosine to the query.
type Neighbour struct {
	Passage int64
	Cosine  float64
}

// nearer orders the nearer passage first, between equals the newer.
func nearer(x, y Neighbour) int {
	return cmp.Or(cmp.Compare(y.Cosine, x.Cosine), cmp.Compare(y.Passage, x.Passage))
}

// best sorts neighbours, keeps the best vector of each passage, and cuts after
// k.
func best(ns []Neighbour, k int) []Neighbour {
	slices.SortFunc(ns, nearer)
	seen := make(map[int64]bool, min(len(ns), k))
	kept := ns[:0]
	for _, n := range ns {
		if len(kept) == k {
			break
		}
		if !seen[n.Passage] {
			seen[n.Passage] = true
			kept = append(kept, n)
		}
	}
	return kept
}
