package recall

import (
	"context"
	"fmt"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/embed"
)

// Passages that share no word with a query are found by their vectors alone. No
// cosine separates right from wrong there, so they do not compete with what the
// words found: the last places of an answer are kept for them, and they are
// marked as related.

const (
	// relatedPlaces of every tenPlaces are kept for related passages.
	relatedPlaces = 1
	tenPlaces     = 10
	// relatedAlone is how many there are where the words found nothing.
	relatedAlone = 5
	// relatedAsked is how many are asked for: the words found some of them too.
	relatedAsked = 30
	// relatedLeast is the cosine below which nothing is shown. Half of the right
	// answers have more than .34, and so have some wrong ones.
	relatedLeast = 0.3
	// relatedBehind is how much nearer the nearest hit may be than one that takes
	// another hit's place: where the words found what the query means, the next that
	// they found is as good.
	relatedBehind = 0.1
)

// Vectors finds passages by what they mean; *vector.Searcher does.
type Vectors interface {
	SearchMeaning(ctx context.Context, text string, q archive.Query, k int) (*embed.Matches, error)
	// Chosen reports that somebody chose a model whose vectors reorder hits.
	Chosen() bool
}

// WithVectors returns a Recall that also finds by the vectors in the store.
func (r *Recall) WithVectors(v Vectors) *Recall {
	with := *r
	with.vectors = v
	return &with
}

// ask embeds the query and looks for what lies near it, once for a request.
func (s *search) ask(ctx context.Context) (*embed.Matches, error) {
	if s.asked == nil {
		asked, err := s.vectors.SearchMeaning(ctx, s.req.Text, s.query, relatedAsked)
		if err != nil {
			return nil, fmt.Errorf("search by meaning: %w", err)
		}
		s.asked = asked
	}
	return s.asked, nil
}

// related puts the passages nearest in meaning into the places kept for them. A
// query's phrases have to be in them as well.
func (s *search) related(ctx context.Context, hits []Hit) ([]Hit, error) {
	limit := s.query.Limit
	// Where a hit holds all the words, those words were not the wrong ones.
	if s.vectors == nil || literal(s.req.Text) || slices.ContainsFunc(hits, holdsAll) {
		return hits, nil
	}
	places := (limit*relatedPlaces + tenPlaces/2) / tenPlaces // none of fewer than five
	if len(hits) == 0 {
		places = min(limit, relatedAlone)
	}
	if places == 0 {
		return hits, nil
	}
	asked, err := s.ask(ctx)
	if err != nil {
		return nil, err
	}
	near, err := asked.Nearest(ctx, relatedAsked)
	if err != nil {
		return nil, fmt.Errorf("search by meaning: %w", err)
	}
	phrases := normalised(s.req.Phrases)
	known := make(map[uint64]bool, len(hits))
	kept := min(len(hits), limit-places)
	for _, h := range hits[:kept] {
		known[fingerprint(h.Text)] = true
	}
	least := relatedLeast
	if len(hits) > kept && kept < tenPlaces { // further down hardly any hit is right
		for _, h := range hits {
			least = max(least, h.Why.Meaning-relatedBehind)
		}
	}
	var more []Hit
	for _, n := range near {
		if len(more) == places || n.Level < least {
			break
		}
		key := fingerprint(n.Text)
		if known[key] || !s.fits(n.Passage) || !holds(n.Text, phrases) {
			continue
		}
		known[key] = true
		h := newHit(n.Hit)
		h.Related, h.Why.Meaning = true, n.Level
		h.Score = n.Level
		if kept > 0 { // scores fall
			h.Score = min(h.Score, hits[kept-1].Score)
		}
		more = append(more, h)
	}
	// What no related passage takes goes back to the words.
	kept = min(len(hits), limit-len(more))
	return append(slices.Clip(hits[:kept]), more...), nil
}

func normalised(phrases []string) []string {
	out := make([]string, len(phrases))
	for i, p := range phrases {
		out[i] = normalise(p)
	}
	return out
}
