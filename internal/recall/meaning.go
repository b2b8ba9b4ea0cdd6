package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"strandline/internal/archive"
	"strandline/internal/embed"
)

// The score of a cosine of 1 relative to the words of the best passage: the hit's own
// cosine, the best one of its turn, and that of the following passage. The cosines of
// unrelated passages deviate by a tenth, so an unusual one is worth a fifth.
const (
	meaningWeight     = 0.85
	turnMeaningWeight = 0.85
	nextMeaningWeight = 0.5
)

// maxChunks is the number of chunks of a passage that are embedded. Most long passages
// state their subject in the first 1,200 characters.
const maxChunks = 2

// setMeaning sets the cosine of each hit to the query.
func setMeaning(ctx context.Context, e embed.Vectorizer, query string, hits []Hit) error {
	if e == nil || len(hits) == 0 || literal(query) {
		return nil
	}
	vs, err := e.Embed(ctx, []string{query})
	if err != nil || vs[0] == nil {
		return err
	}
	texts := archive.Convert(hits, func(h Hit) string { return h.Text })
	return embed.EmbedChunks(ctx, e, texts, maxChunks, func(i int, v []float32) error {
		hits[i].Why.Meaning = max(hits[i].Why.Meaning, embed.Cosine(vs[0], v))
		return nil
	})
}

// setModelMeaning replaces the cosines of hits that have vectors of a chosen model,
// which is better than the built-in table. They are on the table's scale, so that hits
// without such vectors stay comparable.
func (s *search) setModelMeaning(ctx context.Context, hits []Hit) error {
	if s.Vectors == nil || !s.Vectors.Chosen() || len(hits) == 0 || literal(s.req.Text) {
		return nil
	}
	matches, err := s.searchMeaning(ctx)
	if err != nil {
		return err
	}
	meanings, err := matches.Meanings(ctx, archive.Convert(hits, func(h Hit) int64 { return h.id }))
	if err != nil {
		return fmt.Errorf("search by meaning: %w", err)
	}
	for i := range hits {
		if m, ok := meanings[hits[i].id]; ok && m.Chosen {
			hits[i].Why.Meaning = m.Level
		}
	}
	return nil
}

// addMeaning adds to each score the meaning of the hit, of its turn, and of the
// following passage: a conversation returns to its subject, and few sentences name it.
func addMeaning(hits []Hit) {
	turns := make(map[archive.Ref]float64, len(hits))
	next := make(map[int64]float64, len(hits))
	for i := range hits {
		h := &hits[i]
		turns[h.turn()] = max(turns[h.turn()], h.Why.Meaning)
		next[h.Why.Follows] = h.Why.Meaning
	}
	for i := range hits {
		h := &hits[i]
		h.Score += meaningWeight*h.Why.Meaning + turnMeaningWeight*turns[h.turn()]
		if h.id != 0 {
			h.Score += nextMeaningWeight * next[h.id]
		}
	}
}

// literal reports whether a query is one word, or names only: identifiers, paths,
// error codes, numbers, quoted text. It is not embedded, because the words decide and
// loading the table takes longer than finding a rare word.
func literal(query string) bool {
	words := strings.Fields(query)
	return len(words) == 1 || len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !looksLikeName(w) })
}

// looksLikeName reports whether a word has the structure of a name.
func looksLikeName(w string) bool {
	lower := strings.IndexFunc(w, unicode.IsLower)
	return strings.ContainsAny(w, `"*_./\:#@`) || strings.ContainsFunc(w, unicode.IsDigit) ||
		lower >= 0 && strings.ContainsFunc(w[lower:], unicode.IsUpper)
}

// Passages that share no word with a query are found by their vectors only. No cosine
// separates good from bad ones, so they do not compete with hits by words: they get
// the last places of a result and are marked as related.
const (
	relatedPercent = 10 // of the places of a result
	relatedAlone   = 5  // places if there are no hits by words
	relatedFetch   = 30 // fetched, because some are hits by words as well
	// relatedLeast is the least cosine. Half of the good passages have more than .34, and
	// so have some bad ones.
	relatedLeast = 0.3
	// relatedMargin is the largest difference to the best replaced hit's cosine: if the
	// words found the right passages, the next hit is as good.
	relatedMargin = 0.1
	// relatedFirst is the number of first places at which relatedMargin applies. Hits
	// further down are rarely good.
	relatedFirst = 10
)

// Vectors searches passages by meaning. *embed.Searcher implements it.
type Vectors interface {
	SearchMeaning(ctx context.Context, text string, q archive.Query, k int) (*embed.Matches, error)
	// Chosen reports whether the user chose a model, whose vectors change the ranking.
	Chosen() bool
}

// searchMeaning searches the vectors once per request.
func (s *search) searchMeaning(ctx context.Context) (*embed.Matches, error) {
	var err error
	if s.matches == nil {
		s.matches, err = s.Vectors.SearchMeaning(ctx, s.req.Text, s.query, relatedFetch)
	}
	return s.matches, archive.Wrap("search by meaning", err)
}

// addRelated puts the passages nearest in meaning into the last places. They must
// contain the query's phrases.
func (s *search) addRelated(ctx context.Context, hits []Hit) ([]Hit, error) {
	limit := s.query.Limit
	if s.Vectors == nil || literal(s.req.Text) || slices.ContainsFunc(hits, containsAllWords) {
		return hits, nil
	}
	places := (limit*relatedPercent + 50) / 100
	if len(hits) == 0 {
		places = min(limit, relatedAlone)
	}
	if places == 0 {
		return hits, nil
	}
	matches, err := s.searchMeaning(ctx)
	if err != nil {
		return nil, err
	}
	near, err := matches.Nearest(ctx, relatedFetch)
	if err != nil {
		return nil, fmt.Errorf("search by meaning: %w", err)
	}
	phrases := archive.Convert(s.req.Phrases, normalise)
	known := make(map[uint64]bool, len(hits))
	kept := min(len(hits), limit-places)
	for _, h := range hits[:kept] {
		known[fingerprint(h.Text)] = true
	}
	least := relatedLeast
	if len(hits) > kept && kept < relatedFirst {
		for _, h := range hits {
			least = max(least, h.Why.Meaning-relatedMargin)
		}
	}
	var related []Hit
	for _, n := range near {
		if len(related) == places || n.Level < least {
			break
		}
		key := fingerprint(n.Text)
		if known[key] || !s.matchesFilters(n.Passage) || !containsAll(n.Text, phrases) {
			continue
		}
		known[key] = true
		h := newHit(n.Hit)
		h.Related, h.Why.Meaning, h.Score = true, n.Level, n.Level
		if kept > 0 { // scores descend
			h.Score = min(h.Score, hits[kept-1].Score)
		}
		related = append(related, h)
	}
	// Unused places keep their hits.
	kept = min(len(hits), limit-len(related))
	return append(slices.Clip(hits[:kept]), related...), nil
}
