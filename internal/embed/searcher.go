package embed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// VectorStore is the part of a store that a search needs.
type VectorStore interface {
	VectorReader
	VectorsOf(ctx context.Context, embedder string, dim int, passages []int64) (map[int64]archive.VectorRow, error)
	VectorScope(ctx context.Context, q archive.Query) (keep func(passage int64) bool, err error)
	HitsOf(ctx context.Context, q archive.Query, passages []int64) ([]archive.Hit, error)
}

// Searcher finds passages by meaning. An archive can hold vectors of several
// embedders, and a passage can have those of one only. Each set is searched with its
// own embedder, and cosines are compared by their deviations from the set's mean.
type Searcher struct {
	Store VectorStore
	Dir   VectorDir
	// Embedders can embed a query now; the first is preferred. A passage with vectors
	// of several is ranked by the first of them. The last embedder is the built-in
	// one, and defines the scale of Meaning.Level.
	Embedders []Embedder
	// Notes are added to every result: why an embedder is unavailable.
	Notes []string
}

// Chosen reports whether there is an embedder besides the built-in one.
func (s *Searcher) Chosen() bool { return len(s.Embedders) > 1 }

// Matches is the result of one query.
type Matches struct {
	s     *Searcher
	query archive.Query
	sets  []setMatches
	// Notes say which embedders or files could not be used, and why.
	Notes []string
}

// setMatches holds the matches of one set.
type setMatches struct {
	set     archive.VectorSet
	query   []float32
	found   Found
	cosines map[int64]float64 // of found, by passage
}

// Match is a passage and its distance to the query.
type Match struct {
	archive.Hit
	Meaning
}

// Meaning says how close a passage is to the query.
type Meaning struct {
	Embedder string
	Cosine   float64
	// Level is comparable between embedders: the cosine's deviation from the mean of
	// its set, on the scale of the Searcher's last embedder. It equals Cosine for the
	// last embedder, and for sets that are too small for an estimate.
	Level float64
	// Chosen is false for the Searcher's last embedder.
	Chosen bool
}

// tailRows is the largest number of rows without a file that a search reads from the
// store. Maintenance adds the rest to the file.
const tailRows = 2_000

// queryLimit is the largest part of a query that is embedded, in bytes.
const queryLimit = 4096

// SearchMeaning embeds text and searches the vectors of every available embedder, within
// the filters of q, for at least k passages each. It finds nothing for a text
// without a known word.
//
// If an embedder fails, a note says so and the others are used. An error is from
// the store or from ctx.
func (s *Searcher) SearchMeaning(ctx context.Context, text string, q archive.Query, k int) (*Matches, error) {
	m := &Matches{s: s, query: q, Notes: slices.Clone(s.Notes)}
	sets, err := s.Store.VectorSets(ctx)
	if err != nil || len(sets) == 0 {
		return m, err
	}
	keep, err := s.Store.VectorScope(ctx, q)
	if err != nil {
		return m, err
	}
	text = archive.Clip(text, queryLimit)
	for i, e := range s.Embedders {
		one, note, err := s.embedQuery(ctx, e, text, sets)
		if err != nil {
			return m, err
		}
		if note != "" && (note != noVectors || i < len(s.Embedders)-1) {
			m.Notes = append(m.Notes, e.Name()+": "+strings.Join(strings.Fields(note), " "))
		}
		if one == nil {
			continue
		}
		if err := m.searchSet(ctx, one, k, keep); err != nil {
			return m, err
		}
		for _, n := range one.found.Nearest {
			one.cosines[n.Passage] = n.Cosine
		}
		m.sets = append(m.sets, *one)
	}
	return m, nil
}

const noVectors = "no passage has its vectors yet, `strandline maintain` makes them"

// embedQuery embeds a text with e and selects the set that it is compared with. If
// it returns no set, the note says why; it is empty for a text without a known word.
func (s *Searcher) embedQuery(ctx context.Context, e Embedder, text string, sets []archive.VectorSet) (*setMatches, string, error) {
	if !slices.ContainsFunc(sets, func(x archive.VectorSet) bool { return x.Embedder == e.Name() && x.Rows > 0 }) {
		return nil, noVectors, nil
	}
	vs, err := e.Embed(ctx, []string{text})
	if err != nil {
		return nil, err.Error() + "; the built-in vectors are used instead", ctx.Err()
	}
	v := vs[0]
	if v == nil {
		return nil, "", nil
	}
	at := slices.IndexFunc(sets, func(x archive.VectorSet) bool { return x.Embedder == e.Name() && x.Dim == len(v) })
	if at < 0 {
		return nil, fmt.Sprintf("its vectors have %d components now, those of the passages have another number; `strandline maintain` makes new ones", len(v)), nil
	}
	return &setMatches{set: sets[at], query: v, cosines: map[int64]float64{}}, "", nil
}

// searchSet searches the file of a set, and the store for rows that the file lacks.
func (m *Matches) searchSet(ctx context.Context, one *setMatches, k int, keep func(int64) bool) error {
	last := int64(0)
	reason := "" // why the file cannot be used
	flat, err := OpenFlat(m.s.Dir.path(one.set))
	if err == nil {
		if reason = flat.mismatch(one.set); reason == "" {
			if one.found, err = flat.Search(ctx, one.query, k, keep); err != nil {
				reason, one.found = err.Error(), Found{} // truncated during the search
			} else {
				last = flat.head.set.Last
			}
		}
		if err := errors.Join(ctx.Err(), flat.Close()); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		reason = err.Error()
	}
	if reason != "" {
		m.Notes = append(m.Notes, reason+"; the next maintenance run rebuilds it")
	}
	return m.searchTail(ctx, one, last, k, keep)
}

// searchTail compares the rows after row last.
func (m *Matches) searchTail(ctx context.Context, one *setMatches, last int64, k int, keep func(int64) bool) error {
	if last >= one.set.Last {
		return nil
	}
	last = max(last, one.set.Last-tailRows) // the newest rows matter most
	var sum, squares float64
	var more []Neighbour
	err := m.s.Store.Vectors(ctx, one.set.Embedder, one.set.Dim, last, tailRows, func(r archive.VectorRow) error {
		if keep != nil && !keep(r.Passage) {
			return nil
		}
		c, err := largestCosine(r.Data, one.query)
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

// largestCosine returns the largest cosine of a passage's vectors.
func largestCosine(data []byte, q []float32) (float64, error) {
	largest := math.Inf(-1)
	err := Unpack(data, len(q), func(scale float32, row []byte) error {
		largest = max(largest, float64(scale*dot(q, row)))
		return nil
	})
	return largest, err
}

// minSample is the smallest sample from which a deviation is estimated.
const minSample = 20

// usualMean and usualSD replace the built-in embedder's mean and deviation if those
// of a query are unknown. They are the means over 328 queries (commits, questions
// about code) to 6,917 passages of real sessions.
const usualMean, usualSD = .045, .115

// meaning returns the function that makes a Meaning of a cosine of set i.
func (m *Matches) meaning(i int) func(c float64) Meaning {
	one := &m.sets[i]
	name, own := one.set.Embedder, one.found
	last := m.s.Embedders[len(m.s.Embedders)-1].Name()
	if name == last || own.N < minSample || own.SD <= 0 {
		return func(c float64) Meaning { return Meaning{name, c, c, name != last} }
	}
	scale := Found{Mean: usualMean, SD: usualSD}
	if r := &m.sets[len(m.sets)-1]; r.set.Embedder == last && r.found.N >= minSample && r.found.SD > 0 {
		scale = r.found
	}
	return func(c float64) Meaning {
		return Meaning{name, c, scale.Mean + (c-own.Mean)/own.SD*scale.SD, true}
	}
}

// Passages returns the IDs of the passages found, nearest first, with their meanings. Some
// may not exist any more, or not pass the filters that need a row.
func (m *Matches) Passages(ctx context.Context) ([]int64, map[int64]Meaning, error) {
	found := map[int64]bool{}
	for _, one := range m.sets {
		for _, n := range one.found.Nearest {
			found[n.Passage] = true
		}
	}
	ids := slices.Sorted(maps.Keys(found))
	meanings, err := m.Meanings(ctx, ids)
	slices.SortStableFunc(ids, func(x, y int64) int {
		return cmp.Or(cmp.Compare(meanings[y].Level, meanings[x].Level), cmp.Compare(y, x))
	})
	return ids, meanings, err
}

// Nearest returns at most k existing passages that pass the query's filters, nearest
// first. There can be fewer than exist, because filters on time and line are applied
// to the passages found.
func (m *Matches) Nearest(ctx context.Context, k int) ([]Match, error) {
	ids, meanings, err := m.Passages(ctx)
	if err != nil {
		return nil, err
	}
	var out []Match
	for some := range slices.Chunk(ids, max(1, 2*k)) {
		if len(out) >= k {
			break
		}
		hits, err := m.s.Store.HitsOf(ctx, m.query, some)
		if err != nil {
			return nil, err
		}
		for _, h := range hits[:min(len(hits), k-len(out))] {
			out = append(out, Match{h, meanings[h.ID]})
		}
	}
	return out, nil
}

// Meanings returns the meaning of those passages that have vectors, each by the
// first embedder that has any.
func (m *Matches) Meanings(ctx context.Context, passages []int64) (map[int64]Meaning, error) {
	out := make(map[int64]Meaning, len(passages))
	for i := range m.sets {
		one, meaning := &m.sets[i], m.meaning(i)
		var missing []int64
		for _, id := range passages {
			if _, done := out[id]; done {
				continue
			}
			if c, ok := one.cosines[id]; ok {
				out[id] = meaning(c)
			} else {
				missing = append(missing, id)
			}
		}
		if len(missing) == 0 {
			break
		}
		rows, err := m.s.Store.VectorsOf(ctx, one.set.Embedder, one.set.Dim, missing)
		if err != nil {
			return nil, err
		}
		for id, r := range rows {
			c, err := largestCosine(r.Data, one.query)
			if err != nil {
				return nil, err
			}
			out[id] = meaning(c)
		}
	}
	return out, nil
}
