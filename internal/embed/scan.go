package embed

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

// A search compares every vector exactly if there are at most exactRows. Otherwise a
// first pass ranks all vectors by their signs, and the best ones are compared
// exactly: signCandidates, one in signShare, or signsPerHit for each passage wanted,
// whichever is most. docs/vectors.md has the recall of these values.
const (
	exactRows      = 4_096
	signCandidates = 1_500
	signShare      = 650
	signsPerHit    = 50
	// chunkRows is the number of rows whose signs are read at once; they fit into the
	// processor's cache.
	chunkRows = 4_096
	// Mean and deviation are estimated from sampleRuns runs of sampleRun rows.
	sampleRuns = 128
	sampleRun  = 8
)

// Found is the result of a search.
type Found struct {
	Nearest []Neighbour
	// Mean and SD are estimated from the cosines of N vectors of the whole file: what
	// a cosine is worth depends on the embedder and on the query.
	Mean, SD float64
	N        int
}

// Neighbour is a passage and its cosine to the query.
type Neighbour struct {
	Passage int64
	Cosine  float64
}

// compareNeighbours orders by cosine, highest first, then by passage, newest first.
func compareNeighbours(x, y Neighbour) int {
	return cmp.Or(cmp.Compare(y.Cosine, x.Cosine), cmp.Compare(y.Passage, x.Passage))
}

// best returns the nearest k passages, each with its nearest vector.
func best(ns []Neighbour, k int) []Neighbour {
	slices.SortFunc(ns, compareNeighbours)
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

// Search returns the k passages nearest to the unit vector q, nearest first, by the
// cosine of their best vector. Passages for which keep returns false are skipped;
// keep is called from several goroutines and may be nil.
func (x *Flat) Search(ctx context.Context, q []float32, k int, keep func(passage int64) bool) (found Found, err error) {
	if len(q) != x.head.set.Dim {
		return Found{}, fmt.Errorf("the query has %d components, the vectors have %d", len(q), x.head.set.Dim)
	}
	if k < 1 || x.Len() == 0 {
		return Found{}, ctx.Err()
	}
	s := scan{x: x, q: q, keep: keep}
	if x.Len() <= exactRows {
		found.Nearest, err = s.exact(ctx)
	} else {
		found.Nearest, err = s.bySigns(ctx, k, max(signCandidates, x.Len()/signShare, k*signsPerHit))
	}
	if err != nil {
		return Found{}, err
	}
	found.Nearest = best(found.Nearest, k)
	found.Mean, found.SD, found.N, err = s.sample()
	return found, err
}

// scan is one search.
type scan struct {
	x    *Flat
	q    []float32
	keep func(int64) bool
}

// cosine compares a row of consecutive vectors with the query.
func (s *scan) cosine(vectors []byte, row int) float64 {
	scale, components := rowAt(vectors, row, len(s.q))
	return float64(scale * dot(s.q, components))
}

// exact compares every vector.
func (s *scan) exact(ctx context.Context) ([]Neighbour, error) {
	out := make([]Neighbour, 0, s.x.Len())
	err := s.x.each(func(passage int64, scale float32, components []byte) error {
		if s.keep == nil || s.keep(passage) {
			out = append(out, Neighbour{passage, float64(scale * dot(s.q, components))})
		}
		return ctx.Err()
	})
	return out, err
}

// weightBits is the number of bits of a component's weight.
const weightBits = 3

// weightStep is the difference between two weights, in standard deviations of the
// query's components: near the uniform quantiser with the least square error for a
// normal distribution.
const weightStep = 0.35

// signQuery is a query as signs and weights. The distance of a vector is the sum of
// the weights of the components whose signs differ.
type signQuery struct {
	signs   []uint64
	weights [][weightBits]uint64 // for each word of signs, bit b of the weights in element b
}

func newSignQuery(q []float32) signQuery {
	s := signQuery{signs: appendBits(nil, len(q), func(i int) bool { return q[i] > 0 })}
	var squares float64
	for _, x := range q {
		squares += float64(x) * float64(x)
	}
	step := weightStep * math.Sqrt(squares/float64(len(q)))
	weights := make([]int, len(q))
	for i, x := range q {
		if step > 0 {
			weights[i] = min(1<<weightBits-1, int(math.Round(math.Abs(float64(x))/step)))
		}
	}
	s.weights = make([][weightBits]uint64, len(s.signs))
	for b := range weightBits {
		for i, w := range appendBits(nil, len(q), func(i int) bool { return weights[i]>>b&1 == 1 }) {
			s.weights[i][b] = w
		}
	}
	return s
}

// distances writes the distance of each row of signs to out.
func (s *signQuery) distances(out []uint16, signs []byte) {
	size := 8 * len(s.signs)
	if len(s.signs) == 2 { // the built-in embedder; half the time of the general loop
		w0, w1, q0, q1 := s.weights[0], s.weights[1], s.signs[0], s.signs[1]
		for row := range out {
			two := signs[16*row : 16*row+16]
			out[row] = uint16(weigh(q0^binary.LittleEndian.Uint64(two), &w0) + weigh(q1^binary.LittleEndian.Uint64(two[8:]), &w1))
		}
		return
	}
	for row := range out {
		d := 0
		for i, w := range s.signs {
			d += weigh(w^binary.LittleEndian.Uint64(signs[size*row+8*i:]), &s.weights[i])
		}
		out[row] = uint16(min(d, skipped-1))
	}
}

// weigh returns the sum of the weights of the components whose bit is set.
func weigh(differ uint64, weights *[weightBits]uint64) int {
	return bits.OnesCount64(differ&weights[0]) + bits.OnesCount64(differ&weights[1])<<1 + bits.OnesCount64(differ&weights[2])<<2
}

// skipped is the distance of rows that keep excludes.
const skipped = math.MaxUint16

// compared is a row and its cosine.
type compared struct {
	block  *block
	row    int
	cosine float64
}

// bySigns compares exactly the want rows with the least sign distances, and those
// as near as the last of them. It returns at least k passages if there are as many.
func (s *scan) bySigns(ctx context.Context, k, want int) ([]Neighbour, error) {
	query := newSignQuery(s.q)
	distances := make([]uint16, s.x.Len())
	err := s.eachBlock(ctx, func(b *block) error {
		return s.signDistances(&query, b, distances[b.first:b.first+b.rows])
	})
	if err != nil {
		return nil, err
	}
	var counts [skipped + 1]int32
	for _, d := range distances {
		counts[d]++
	}
	limit := 0
	for ; limit < skipped-1 && int(counts[limit]) < want; limit++ {
		want -= int(counts[limit])
	}
	found := make([][]compared, len(s.x.blocks))
	err = s.eachBlock(ctx, func(b *block) error {
		vector := make([]byte, rowSize(len(s.q)))
		for row, d := range distances[b.first : b.first+b.rows] {
			if int(d) > limit {
				continue
			}
			if err := s.x.read(b, b.vectors+len(vector)*row, vector); err != nil {
				return err
			}
			found[b.index] = append(found[b.index], compared{b, row, s.cosine(vector, 0)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.nearest(slices.Concat(found...), k)
}

// signDistances writes the sign distances of a block's rows to out.
func (s *scan) signDistances(query *signQuery, b *block, out []uint16) error {
	size := 8 * len(query.signs)
	buf := make([]byte, max(size, 8)*min(chunkRows, b.rows))
	for from := 0; from < b.rows; from += chunkRows {
		rows := out[from:min(from+chunkRows, b.rows)]
		if err := s.x.read(b, b.signs+size*from, buf[:size*len(rows)]); err != nil {
			return err
		}
		query.distances(rows, buf)
		if s.keep == nil {
			continue
		}
		if err := s.x.read(b, b.passages+8*from, buf[:8*len(rows)]); err != nil {
			return err
		}
		for row := range rows {
			if !s.keep(passageAt(buf, row)) {
				rows[row] = skipped
			}
		}
	}
	return nil
}

// nearest returns the passages of rows, nearest first, until there are k and the
// next row is farther than the last.
func (s *scan) nearest(rows []compared, k int) (out []Neighbour, err error) {
	slices.SortFunc(rows, func(a, b compared) int { return cmp.Compare(b.cosine, a.cosine) })
	seen := make(map[int64]bool, k)
	var buf [8]byte
	for i, r := range rows {
		if len(seen) >= k && r.cosine < rows[i-1].cosine {
			break
		}
		if err := s.x.read(r.block, r.block.passages+8*r.row, buf[:]); err != nil {
			return nil, err
		}
		p := passageAt(buf[:], 0)
		seen[p] = true
		out = append(out, Neighbour{p, r.cosine})
	}
	return out, nil
}

// eachBlock calls fn for all blocks, as many at a time as there are processors.
func (s *scan) eachBlock(ctx context.Context, fn func(b *block) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, b := range s.x.blocks {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return fn(b)
		})
	}
	return g.Wait()
}

// sample estimates mean and deviation of the cosines of all vectors. It ignores
// keep, because a narrow filter leaves too few rows.
func (s *scan) sample() (mean, sd float64, n int, err error) {
	var sum, squares float64
	every := max(1, s.x.Len()/(sampleRuns*sampleRun))
	size := rowSize(len(s.q))
	buf := make([]byte, size*sampleRun)
	for _, b := range s.x.blocks {
		for from := 0; from < b.rows; from += sampleRun * every {
			rows := min(sampleRun, b.rows-from)
			if err := s.x.read(b, b.vectors+size*from, buf[:size*rows]); err != nil {
				return 0, 0, 0, err
			}
			for row := range rows {
				c := s.cosine(buf, row)
				sum, squares, n = sum+c, squares+c*c, n+1
			}
		}
	}
	mean = sum / float64(n)
	return mean, math.Sqrt(max(0, squares/float64(n)-mean*mean)), n, nil
}
