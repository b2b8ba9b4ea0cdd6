package embed

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

const (
	// Below exactRows vectors every one is compared in full.
	exactRows = 4_096
	// Above, those are whose signs agree best with the query's components: at
	// least signCandidates, one in signShare of all, and signsPerHit for each
	// passage wanted. See docs/vectors.md for the recall of this choice.
	signCandidates = 1_500
	signShare      = 650
	signsPerHit    = 50
	// grain is how many vectors are worth another goroutine.
	grain = 65_536
	// The cosines' mean and deviation are taken from runs of neighbours, so that
	// few pages are read.
	sampleRuns = 128
	sampleRun  = 8
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
	var found Found
	var err error
	if x.Len() <= exactRows {
		found.Nearest, err = s.all(ctx)
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
	asks ask
}

// cosine compares a row of a section of vectors.
func (s *scan) cosine(vectors []byte, row int) float64 {
	scale, components := piece(vectors, row, len(s.q))
	return float64(scale * dot(s.q, components))
}

// all compares every vector in full.
func (s *scan) all(ctx context.Context) (out []Neighbour, err error) {
	out = make([]Neighbour, 0, s.x.Len())
	for i := range s.x.blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b := &s.x.blocks[i]
		passages, err := s.x.readAll(b, b.passages, 8*b.rows)
		if err != nil {
			return nil, err
		}
		vectors, err := s.x.readAll(b, b.vectors, b.rows*pieceSize(len(s.q)))
		if err != nil {
			return nil, err
		}
		for row := range b.rows {
			if p := passageAt(passages, row); s.keep == nil || s.keep(p) {
				out = append(out, Neighbour{p, s.cosine(vectors, row)})
			}
		}
	}
	return out, nil
}

// bySigns weighs for every vector the components whose sign is not the query's,
// and compares those in full, want or a few more, that differ in the least. It
// returns k passages or more.
func (s *scan) bySigns(ctx context.Context, k, want int) ([]Neighbour, error) {
	s.asks = newAsk(s.q)
	parts := s.parts()
	picks := make([]pick, len(parts))
	err := s.each(ctx, parts, func(i int, blocks []block) error {
		picks[i] = newPick(want, s.asks.most, s.keep)
		return s.pick(ctx, blocks, &picks[i])
	})
	if err != nil {
		return nil, err
	}
	limit := limitOf(picks, want)
	found := make([][]compared, len(parts))
	err = s.each(ctx, parts, func(i int, blocks []block) (err error) {
		found[i], err = s.compare(ctx, blocks, picks[i].rows, uint32(limit))
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.passages(slices.Concat(found...), k)
}

// compared is a row and its cosine.
type compared struct {
	block  *block
	row    int
	cosine float64
}

// passages returns the nearest k passages of rows, and those that are as near as
// the last, each with as many of its rows as are among these.
func (s *scan) passages(rows []compared, k int) (out []Neighbour, err error) {
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

// chunkRows is how many rows' signs are read at once: they stay in the processor
// until they are looked at.
const chunkRows = 4_096

// pick gives the signs of blocks to p.
func (s *scan) pick(ctx context.Context, blocks []block, p *pick) error {
	size := 8 * len(s.asks.signs)
	words, passages := make([]byte, size*chunkRows), []byte(nil)
	if s.keep != nil {
		passages = make([]byte, 8*chunkRows)
	}
	for i := range blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := &blocks[i]
		for from := 0; from < b.rows; from += chunkRows {
			n := min(chunkRows, b.rows-from)
			if err := s.x.read(b, b.signs+size*from, words[:size*n]); err != nil {
				return err
			}
			if s.keep != nil {
				if err := s.x.read(b, b.passages+8*from, passages[:8*n]); err != nil {
					return err
				}
			}
			p.block, p.first, p.passages = uint32(i), uint32(from), passages
			s.asks.scan(words[:size*n], p)
		}
	}
	return nil
}

// compare compares rows within the limit in full.
func (s *scan) compare(ctx context.Context, blocks []block, rows []picked, limit uint32) ([]compared, error) {
	out := make([]compared, 0, len(rows))
	size := pieceSize(len(s.q))
	vector := make([]byte, size)
	for _, r := range rows {
		if r.distance > limit {
			continue
		}
		b := &blocks[r.block]
		if err := s.x.read(b, b.vectors+size*int(r.row), vector); err != nil {
			return nil, err
		}
		out = append(out, compared{b, int(r.row), s.cosine(vector, 0)})
	}
	return out, ctx.Err()
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

// sample estimates the mean and the deviation of the cosines of all vectors,
// whatever keep says: few allowed ones would tell nothing.
func (s *scan) sample() (mean, sd float64, n int, err error) {
	var sum, squares float64
	every := max(1, s.x.Len()/(sampleRuns*sampleRun))
	size := pieceSize(len(s.q))
	buf := make([]byte, size*sampleRun)
	for i := range s.x.blocks {
		b := &s.x.blocks[i]
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
