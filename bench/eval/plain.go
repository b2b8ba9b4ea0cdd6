package eval

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
	"strandline/internal/recall"
)

// Plain ranks every passage by BM25 alone, as a full-text search without any cue does. It is
// the baseline that no other ranking may lose to.
func Plain() System {
	indexes := map[string]*plainIndex{} // by home
	return System{Name: "BM25", search: func(ctx context.Context, w *world, req recall.Request) (recall.Result, error) {
		x := indexes[w.home]
		if x == nil {
			var err error
			if x, err = newPlainIndex(ctx, w); err != nil {
				return recall.Result{}, err
			}
			indexes[w.home] = x
		}
		return recall.Result{Hits: x.search(req)}, nil
	}}
}

// plainIndex holds the passages of an archive by their terms.
type plainIndex struct {
	passages []archive.Passage
	sizes    []float64
	counts   map[string]map[int]float64 // occurrences of a term by passage
	mean     float64
}

func newPlainIndex(ctx context.Context, w *world) (*plainIndex, error) {
	x := &plainIndex{counts: map[string]map[int]float64{}}
	sessions, err := w.store.Sessions(ctx, archive.SessionFilter{Agents: true})
	if err != nil {
		return nil, err
	}
	for _, s := range sessions {
		ps, err := w.store.Passages(ctx, archive.PassageSpan{Span: archive.Span{Session: s.ID}})
		if err != nil {
			return nil, err
		}
		for _, p := range ps {
			p.Session = s.ID
			words := strings.Fields(terms.Index(p.Text))
			for _, word := range words {
				if x.counts[word] == nil {
					x.counts[word] = map[int]float64{}
				}
				x.counts[word][len(x.passages)]++
			}
			x.passages, x.sizes, x.mean = append(x.passages, p), append(x.sizes, float64(len(words))), x.mean+float64(len(words))
		}
	}
	x.mean /= max(float64(len(x.passages)), 1)
	return x, nil
}

// search returns the best passages for all words of a request.
func (x *plainIndex) search(req recall.Request) (hits []recall.Hit) {
	const k1, b = 1.2, 0.75
	scores := map[int]float64{}
	words := strings.Fields(terms.Index(req.Text))
	slices.Sort(words)
	for _, word := range slices.Compact(words) {
		df := float64(len(x.counts[word]))
		idf := math.Log1p((float64(len(x.passages)) - df + 0.5) / (df + 0.5))
		for i, tf := range x.counts[word] {
			scores[i] += idf * tf * (k1 + 1) / (tf + k1*(1-b+b*x.sizes[i]/x.mean))
		}
	}
	for i, score := range scores {
		p := &x.passages[i]
		if !req.Until.IsZero() && !p.Time.Before(req.Until) {
			continue
		}
		hits = append(hits, recall.Hit{
			Session: p.Session, LineFrom: p.LineFrom, LineTo: p.LineTo, Score: score, Text: p.Text, Time: p.Time,
			Ref: archive.Ref{Session: p.Session, Turn: p.Turn, Step: p.Step},
		})
	}
	slices.SortFunc(hits, func(a, b recall.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Session, b.Session), cmp.Compare(a.LineFrom, b.LineFrom))
	})
	return hits[:min(len(hits), req.Limit)]
}
