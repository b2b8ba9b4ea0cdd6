package embed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// VectorStore is what a search needs of a store.
type VectorStore interface {
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
	Store VectorStore
	Dir   VectorDir
	// Embedders are those that may embed a query now, the preferred one first. A
	// passage that has vectors of several is ranked by the first of these. The
	// last, which is built in, is the measure of the others; see Meaning.Level.
	Embedders []Embedder
	// Notes are told with every answer: why an embedder is not among these.
	Notes []string
}

// Chosen reports that there is an embedder beside the built-in one: somebody
// wants its vectors to count.
func (s *Searcher) Chosen() bool { return len(s.Embedders) > 1 }

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
	near   map[int64]float64 // the cosines of found
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
	// Level is comparable between embedders: how far the cosine stands above the
	// mean of its set, in deviations, put on the scale of the Searcher's last
	// embedder. Of that one it is the cosine itself, and of another as well where
	// a set is too small to tell.
	Level float64
	// Chosen reports that the embedder is another than the Searcher's last.
	Chosen bool
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
	a := &Asked{s: s, query: q, Notes: slices.Clone(s.Notes)}
	sets, err := s.Store.VectorSets(ctx)
	if err != nil || len(sets) == 0 {
		return a, err
	}
	keep, err := s.Store.VectorScope(ctx, q)
	if err != nil {
		return a, err
	}
	for i, e := range s.Embedders {
		if !slices.ContainsFunc(sets, func(x archive.VectorSet) bool { return x.Embedder == e.Name() && x.Rows > 0 }) {
			if i < len(s.Embedders)-1 { // somebody chose it
				a.note(e.Name(), "no passage has its vectors yet, `strandline maintain` makes them")
			}
			continue
		}
		v, err := embedQuery(ctx, e, text)
		if err != nil {
			if ctx.Err() != nil {
				return a, ctx.Err()
			}
			a.note(e.Name(), err.Error()+"; the built-in vectors are used instead")
			continue
		}
		if v == nil {
			continue
		}
		at := slices.IndexFunc(sets, func(x archive.VectorSet) bool { return x.Embedder == e.Name() && x.Dim == len(v) })
		if at < 0 {
			a.note(e.Name(), fmt.Sprintf("it makes vectors of %d components now, the passages' are of another length; `strandline maintain` makes new ones", len(v)))
			continue
		}
		one := asked{set: sets[at], vector: v}
		if err := a.search(ctx, &one, k, keep); err != nil {
			return a, err
		}
		one.near = make(map[int64]float64, len(one.found.Nearest))
		for _, n := range one.found.Nearest {
			one.near[n.Passage] = n.Cosine
		}
		a.sets = append(a.sets, one)
	}
	return a, nil
}

func (a *Asked) note(whose, what string) {
	a.Notes = append(a.Notes, whose+": "+strings.Join(strings.Fields(what), " "))
}

// queryLimit is how much of a query is embedded, in bytes.
const queryLimit = 4096

func embedQuery(ctx context.Context, e Embedder, text string) ([]float32, error) {
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
		found, err := flat.Search(ctx, one.vector, k, keep)
		err = errors.Join(err, flat.Close())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // somebody cut it short meanwhile
			a.Notes = append(a.Notes, err.Error()+"; upkeep writes the file anew")
			break
		}
		last, one.found = flat.head.set.Last, found
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

// usualMean and usualSD are what the built-in table's cosines are like where this
// query's are not known: the means over 328 queries (commits, questions about
// code) to 6,917 passages of real sessions.
const usualMean, usualSD = .045, .115

// meanings returns what makes a Meaning of a cosine of set i.
func (a *Asked) meanings(i int) func(c float64) Meaning {
	one := &a.sets[i]
	name, own := one.set.Embedder, one.found
	last := a.s.Embedders[len(a.s.Embedders)-1].Name()
	if name == last || own.N < minSample || own.SD <= 0 {
		return func(c float64) Meaning { return Meaning{name, c, c, name != last} }
	}
	scale := Found{Mean: usualMean, SD: usualSD}
	if r := &a.sets[len(a.sets)-1]; r.set.Embedder == last && r.found.N >= minSample && r.found.SD > 0 {
		scale = r.found
	}
	return func(c float64) Meaning {
		return Meaning{name, c, scale.Mean + (c-own.Mean)/own.SD*scale.SD, true}
	}
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
		return cmp.Or(cmp.Compare(of[y].Level, of[x].Level), cmp.Compare(y, x))
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
		one, meaning := &a.sets[i], a.meanings(i)
		var unknown, without []int64
		for _, id := range left {
			if c, ok := one.near[id]; ok { // the search has compared it
				out[id] = meaning(c)
			} else {
				unknown = append(unknown, id)
			}
		}
		if len(unknown) == 0 {
			break
		}
		rows, err := a.s.Store.VectorsOf(ctx, one.set.Embedder, one.set.Dim, unknown)
		if err != nil {
			return nil, err
		}
		for _, id := range unknown {
			r, ok := rows[id]
			if !ok {
				without = append(without, id)
				continue
			}
			c, err := cosine(r.Data, one.vector)
			if err != nil {
				return nil, err
			}
			out[id] = meaning(c)
		}
		if left = without; len(left) == 0 {
			break
		}
	}
	return out, nil
}
