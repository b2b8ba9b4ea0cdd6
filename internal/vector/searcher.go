package vector

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/embed"
)

// Store is what a search needs of a store.
type Store interface {
	VectorSets(ctx context.Context) ([]archive.VectorSet, error)
	Vectors(ctx context.Context, embedder string, dim int, after int64, limit int, row func(archive.VectorRow) error) error
	VectorsOf(ctx context.Context, embedder string, dim int, passages []int64) (map[int64]archive.VectorRow, error)
	VectorScope(ctx context.Context, q archive.Query) (keep func(passage int64) bool, err error)
	HitsOf(ctx context.Context, q archive.Query, passages []int64) ([]archive.Hit, error)
}

// Searcher finds passages by what they mean. An archive may hold vectors of
// several embedders, and some passages may have those of one only: each set is
// searched with its own embedder, and cosines become comparable by how far they
// stand above the mean of their set.
type Searcher struct {
	Store Store
	Dir   Dir
	// Embedders are those that may embed a query now, the preferred one first. A
	// passage that has vectors of several is ranked by the first of these.
	Embedders []embed.Embedder
}

// Asked is one query, embedded.
type Asked struct {
	s     *Searcher
	query archive.Query
	sets  []asked
	// Notes tell what could not be used and why: an endpoint that is down, a file
	// that is damaged.
	Notes []string
}

// asked is one set with the query's vector.
type asked struct {
	set    archive.VectorSet
	vector []float32
	found  Found
}

// Near is a passage with what its vectors say.
type Near struct {
	archive.Hit
	Meaning
}

// Meaning is how near a passage is to the query.
type Meaning struct {
	Embedder string
	Cosine   float64
	// Z is (Cosine - mean) / deviation over all vectors of the set that the
	// query's filters allow; 0 if they are too few to tell.
	Z float64
}

// tailRows is how many rows that no file holds yet a search looks at itself;
// upkeep brings in the rest.
const tailRows = 2_000

// Ask embeds text and searches every set of which an embedder is at hand, within
// the filters of q. k is how many passages each set gives at least, if it has so
// many. A text of which no embedder knows anything finds nothing.
//
// An embedder that fails is told of in Notes, and the others answer; the error is
// the store's, or of ctx.
func (s *Searcher) Ask(ctx context.Context, text string, q archive.Query, k int) (*Asked, error) {
	a := &Asked{s: s, query: q}
	sets, err := s.Store.VectorSets(ctx)
	if err != nil || len(sets) == 0 {
		return a, err
	}
	keep, err := s.Store.VectorScope(ctx, q)
	if err != nil {
		return a, err
	}
	for _, e := range s.Embedders {
		if !slices.ContainsFunc(sets, func(x archive.VectorSet) bool { return x.Embedder == e.Name() && x.Rows > 0 }) {
			continue
		}
		v, err := embedQuery(ctx, e, text)
		if err != nil {
			if ctx.Err() != nil {
				return a, ctx.Err()
			}
			a.Notes = append(a.Notes, e.Name()+": "+err.Error())
			continue
		}
		if v == nil {
			continue
		}
		at := slices.IndexFunc(sets, func(x archive.VectorSet) bool { return x.Embedder == e.Name() && x.Dim == len(v) })
		if at < 0 {
			continue
		}
		one := asked{set: sets[at], vector: v}
		if err := a.search(ctx, &one, k, keep); err != nil {
			return a, err
		}
		a.sets = append(a.sets, one)
	}
	return a, nil
}

// queryLimit is how much of a query is embedded, in bytes.
const queryLimit = 4096

func embedQuery(ctx context.Context, e embed.Embedder, text string) ([]float32, error) {
	vs, err := e.Embed(ctx, []string{archive.Clip(text, queryLimit)})
	if err != nil {
		return nil, err
	}
	return vs[0], nil
}

// search asks the file of a set, and the store for what the file does not hold.
func (a *Asked) search(ctx context.Context, one *asked, k int, keep func(int64) bool) error {
	last := int64(0)
	flat, err := openFlat(a.s.Dir.path(one.set))
	switch {
	case err == nil && flat.unfit(one.set) == "":
		last = flat.head.set.Last
		one.found, err = flat.Search(ctx, one.vector, k, keep)
		if err = errors.Join(err, flat.Close()); err != nil {
			return err
		}
	case err == nil:
		a.Notes = append(a.Notes, flat.unfit(one.set)+"; upkeep writes it anew")
		if err := flat.Close(); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		a.Notes = append(a.Notes, err.Error()+"; upkeep writes it anew")
	}
	return a.tail(ctx, one, last, k, keep)
}

// tail compares the rows that came behind row last.
func (a *Asked) tail(ctx context.Context, one *asked, last int64, k int, keep func(int64) bool) error {
	if last >= one.set.Last {
		return nil
	}
	// The newest rows matter most where there are more than are looked at.
	last = max(last, one.set.Last-tailRows)
	var sum, squares float64
	var more []Neighbour
	err := a.s.Store.Vectors(ctx, one.set.Embedder, one.set.Dim, last, tailRows, func(r archive.VectorRow) error {
		if keep != nil && !keep(r.Passage) {
			return nil
		}
		c, err := cosine(r.Data, one.vector)
		more = append(more, Neighbour{r.Passage, c})
		sum, squares = sum+c, squares+c*c
		return err
	})
	if err != nil {
		return err
	}
	f := &one.found
	if n := len(more); f.N == 0 && n > 0 {
		f.N, f.Mean = n, sum/float64(n)
		f.SD = math.Sqrt(max(0, squares/float64(n)-f.Mean*f.Mean))
	}
	f.Nearest = best(append(f.Nearest, more...), k)
	return nil
}

// cosine returns the largest cosine of a passage's vectors.
func cosine(data []byte, q []float32) (float64, error) {
	largest := math.Inf(-1)
	err := Unpack(data, len(q), func(scale float32, row []byte) {
		largest = max(largest, float64(scale*dot(q, row)))
	})
	return largest, err
}

// minSample is how many cosines a deviation is worth something of.
const minSample = 20

func (o *asked) meaning(c float64) Meaning {
	m := Meaning{Embedder: o.set.Embedder, Cosine: c}
	if o.found.N >= minSample && o.found.SD > 0 {
		m.Z = (c - o.found.Mean) / o.found.SD
	}
	return m
}

// Nearest returns at most k passages, nearest first, that exist and that the
// query's filters let through. It may be fewer than there are where filters that
// only rows tell (time, lines) leave little of what was found.
func (a *Asked) Nearest(ctx context.Context, k int) ([]Near, error) {
	var ids []int64
	for _, one := range a.sets {
		for _, n := range one.found.Nearest {
			ids = append(ids, n.Passage)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	of, err := a.Of(ctx, ids)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(ids, func(x, y int64) int {
		return cmp.Or(cmp.Compare(of[y].Z, of[x].Z), cmp.Compare(of[y].Cosine, of[x].Cosine), cmp.Compare(y, x))
	})
	var out []Near
	for from := 0; from < len(ids) && len(out) < k; from += 2 * k {
		some := ids[from:min(from+2*k, len(ids))]
		hits, err := a.s.Store.HitsOf(ctx, a.query, some)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			if len(out) < k {
				out = append(out, Near{h, of[h.ID]})
			}
		}
	}
	return out, nil
}

// Of returns what the vectors of these passages say, for those that have any:
// each by the first of the embedders that it has vectors of.
func (a *Asked) Of(ctx context.Context, passages []int64) (map[int64]Meaning, error) {
	out := make(map[int64]Meaning, len(passages))
	left := passages
	for i := range a.sets {
		one := &a.sets[i]
		rows, err := a.s.Store.VectorsOf(ctx, one.set.Embedder, one.set.Dim, left)
		if err != nil {
			return nil, err
		}
		var without []int64
		for _, id := range left {
			r, ok := rows[id]
			if !ok {
				without = append(without, id)
				continue
			}
			c, err := cosine(r.Data, one.vector)
			if err != nil {
				return nil, err
			}
			out[id] = one.meaning(c)
		}
		if left = without; len(left) == 0 {
			break
		}
	}
	return out, nil
}

// Calibration is what cosines of a set are worth for this query.
type Calibration struct {
	Embedder string
	Mean, SD float64
	N        int // cosines that they were taken from
}

// Calibrations returns one for each set that was searched.
func (a *Asked) Calibrations() []Calibration {
	out := make([]Calibration, len(a.sets))
	for i, one := range a.sets {
		out[i] = Calibration{one.set.Embedder, one.found.Mean, one.found.SD, one.found.N}
	}
	return out
}
