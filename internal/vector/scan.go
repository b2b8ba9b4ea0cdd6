package vector

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"runtime"

	"golang.org/x/sync/errgroup"
)

const (
	// Below exactRows vectors every one is compared in full.
	exactRows = 4_096
	// Above, those whose signs agree best with the query's are: at least
	// signCandidates, and one in signShare of those that are allowed, and
	// signsPerHit for each passage wanted. See docs/vectors.md for the recall of
	// this choice.
	signCandidates = 2_000
	signShare      = 60
	signsPerHit    = 50
	// grain is how many vectors are worth another goroutine.
	grain = 65_536
	// The cosines' mean and deviation are taken from runs of neighbours, so that
	// few pages are read.
	sampleRuns = 128
	sampleRun  = 32
)

var _ Index = (*Flat)(nil)

// Search implements Index.
func (x *Flat) Search(ctx context.Context, q []float32, k int, keep func(int64) bool) (Found, error) {
	if len(q) != x.head.set.Dim {
		return Found{}, fmt.Errorf("a query of %d components for vectors of %d", len(q), x.head.set.Dim)
	}
	if k < 1 || x.Len() == 0 {
		return Found{}, ctx.Err()
	}
	s := scan{x: x, q: q, keep: keep}
	s.words = signs(nil, len(q), func(i int) bool { return q[i] > 0 })
	var found Found
	var err error
	if x.Len() <= exactRows {
		found.Nearest, err = s.all(ctx)
	} else {
		found.Nearest, err = s.bySigns(ctx, k)
	}
	if err != nil {
		return Found{}, err
	}
	found.Nearest = best(found.Nearest, k)
	found.Mean, found.SD, found.N = s.sample()
	return found, nil
}

// scan is one search.
type scan struct {
	x     *Flat
	q     []float32
	words []uint64
	keep  func(int64) bool
}

func (s *scan) cosine(b *block, row int) float64 {
	dim := len(s.q)
	return float64(b.scale(row) * dot(s.q, b.components[row*dim:(row+1)*dim]))
}

// all compares every vector in full.
func (s *scan) all(ctx context.Context) (out []Neighbour, err error) {
	out = make([]Neighbour, 0, s.x.Len())
	for i := range s.x.blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b := &s.x.blocks[i]
		for row := range b.rows {
			if p := b.passage(row); s.keep == nil || s.keep(p) {
				out = append(out, Neighbour{p, s.cosine(b, row)})
			}
		}
	}
	return out, nil
}

// barred is the distance of a vector that is not allowed.
const barred = math.MaxUint16

// bySigns counts for every vector in how many components its sign is not the
// query's, and compares those in full that differ in the fewest.
func (s *scan) bySigns(ctx context.Context, k int) ([]Neighbour, error) {
	distances := make([]uint16, s.x.Len())
	parts := s.parts()
	counts := make([][]int, len(parts))
	err := s.each(ctx, parts, func(i int, blocks []block) error {
		counts[i] = make([]int, len(s.q)+1)
		for j := range blocks {
			if err := ctx.Err(); err != nil {
				return err
			}
			b := &blocks[j]
			s.distances(b, distances[b.first:b.first+b.rows], counts[i])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	limit := s.limit(counts, k)
	found := make([][]Neighbour, len(parts))
	err = s.each(ctx, parts, func(i int, blocks []block) error {
		for j := range blocks {
			if err := ctx.Err(); err != nil {
				return err
			}
			b := &blocks[j]
			for row, d := range distances[b.first : b.first+b.rows] {
				if d <= limit {
					found[i] = append(found[i], Neighbour{b.passage(row), s.cosine(b, row)})
				}
			}
		}
		return nil
	})
	var out []Neighbour
	for _, f := range found {
		out = append(out, f...)
	}
	return out, err
}

// distances fills in the distances of one block and counts them.
func (s *scan) distances(b *block, out []uint16, counts []int) {
	words := s.words
	le := binary.LittleEndian
	if len(words) == 2 && s.keep == nil { // the built-in table's, in half the time
		x, y := words[0], words[1]
		for row := range out {
			at := b.signs[16*row : 16*row+16 : 16*row+16]
			d := bits.OnesCount64(x^le.Uint64(at)) + bits.OnesCount64(y^le.Uint64(at[8:]))
			out[row] = uint16(d)
			counts[d]++
		}
		return
	}
	for row := range out {
		if s.keep != nil && !s.keep(b.passage(row)) {
			out[row] = barred
			continue
		}
		at := b.signs[8*len(words)*row:]
		at = at[:8*len(words)]
		d := 0
		for i, w := range words {
			d += bits.OnesCount64(w ^ le.Uint64(at[8*i:]))
		}
		out[row] = uint16(d)
		counts[d]++
	}
}

// limit returns the distance up to which vectors are compared in full.
func (s *scan) limit(counts [][]int, k int) uint16 {
	total := 0
	for _, c := range counts {
		for _, n := range c {
			total += n
		}
	}
	want := max(signCandidates, total/signShare, k*signsPerHit)
	for d := range len(s.q) + 1 {
		for _, c := range counts {
			want -= c[d]
		}
		if want <= 0 {
			return uint16(d)
		}
	}
	return uint16(len(s.q))
}

// parts cuts the blocks into runs of about the same size, one for each goroutine
// that is worth it.
func (s *scan) parts() [][]block {
	n := max(1, min(runtime.GOMAXPROCS(0), s.x.Len()/grain))
	var out [][]block
	blocks, left := s.x.blocks, s.x.Len()
	for ; n > 1; n-- {
		size, i := 0, 0
		for i < len(blocks) && size < left/n {
			size += blocks[i].rows
			i++
		}
		out = append(out, blocks[:i])
		blocks, left = blocks[i:], left-size
	}
	return append(out, blocks)
}

// each runs fn for every part, all but the last in goroutines of their own.
func (s *scan) each(ctx context.Context, parts [][]block, fn func(i int, blocks []block) error) error {
	g, _ := errgroup.WithContext(ctx)
	last := len(parts) - 1
	for i := range last {
		g.Go(func() error { return fn(i, parts[i]) })
	}
	err := fn(last, parts[last])
	if other := g.Wait(); err == nil {
		err = other
	}
	return err
}

// sample estimates the mean and the deviation of the cosines of all vectors that
// are allowed.
func (s *scan) sample() (mean, sd float64, n int) {
	var sum, squares float64
	every := max(1, s.x.Len()/(sampleRuns*sampleRun))
	for i := range s.x.blocks {
		b := &s.x.blocks[i]
		for from := 0; from < b.rows; from += sampleRun * every {
			for row := from; row < min(from+sampleRun, b.rows); row++ {
				if s.keep != nil && !s.keep(b.passage(row)) {
					continue
				}
				c := s.cosine(b, row)
				sum, squares, n = sum+c, squares+c*c, n+1
			}
		}
	}
	if n == 0 {
		return 0, 0, 0
	}
	mean = sum / float64(n)
	return mean, math.Sqrt(max(0, squares/float64(n)-mean*mean)), n
}
