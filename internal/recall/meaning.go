package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"strandline/internal/archive"
	"strandline/internal/embed"
	"strandline/internal/text"
)

// The score of a cosine of 1 relative to the words of the best passage: the hit's own
// cosine, the best one of its turn, and that of the following passage. The cosines of
// unrelated passages deviate by a tenth, so an unusual one is worth a fifth.
const (
	meaningWeight     = 0.85
	turnMeaningWeight = 0.85
	nextMeaningWeight = 0.5
	uncoveredWeight   = 1.5 // added to 1 if no hit has a word of the query, as a factor of all three
)

// Of a passage without stored vectors the first chunk is embedded, because most long
// passages state their subject there. It is in the first headSize bytes.
const headSize = 2 * embed.ChunkSize

// setStoredMeaning sets the cosines of hits that the search by meaning found and, with a
// chosen model, of all that have stored vectors: reading those takes longer than embedding
// the texts with the built-in table. The cosines of a chosen model are on the table's
// scale, so that hits without them stay comparable.
func (s *search) setStoredMeaning(ctx context.Context, hits []Hit) (err error) {
	meanings := s.meanings
	if s.matches != nil && s.Vectors.Chosen() {
		if meanings, err = s.matches.Meanings(ctx, archive.Convert(hits, func(h Hit) int64 { return h.id })); err != nil {
			return fmt.Errorf("search by meaning: %w", err)
		}
	}
	for i := range hits {
		hits[i].Why.Meaning = meanings[hits[i].id].Level
	}
	return nil
}

// setMeaning sets the cosine to the query of each hit without a stored one.
func setMeaning(ctx context.Context, e embed.Vectorizer, query string, hits []Hit) error {
	var texts []string
	var of []int // the hit of each text
	for i := range hits {
		if hits[i].Why.Meaning == 0 {
			texts, of = append(texts, text.Prefix(hits[i].Text, headSize)), append(of, i)
		}
	}
	if e == nil || len(texts) == 0 || literal(query) {
		return nil
	}
	vs, err := e.Embed(ctx, []string{query})
	if err != nil || vs[0] == nil {
		return err
	}
	return embed.EmbedChunks(ctx, e, texts, 1, func(i int, v []float32) error {
		hits[of[i]].Why.Meaning = max(0, embed.Cosine(vs[0], v))
		return nil
	})
}

// addMeaning adds to each score the meaning of the hit, of its turn, and of the
// following passage: a conversation returns to its subject, and few sentences name it.
// The less of the query the best hit contains, the more meaning counts: the words of a
// paraphrase are the least informative ones.
func addMeaning(hits []Hit) {
	turns := make(map[archive.Ref]float64, len(hits))
	next := make(map[int64]float64, len(hits))
	covered := 0.0
	for i := range hits {
		h := &hits[i]
		turns[h.turn()] = max(turns[h.turn()], h.Why.Meaning)
		next[h.Why.Follows] = h.Why.Meaning
		covered = max(covered, h.Why.Covered)
	}
	factor := 1 + uncoveredWeight*(1-min(covered, 1))
	for i := range hits {
		h := &hits[i]
		meaning := meaningWeight*h.Why.Meaning + turnMeaningWeight*turns[h.turn()]
		if h.id != 0 {
			meaning += nextMeaningWeight * next[h.id]
		}
		h.Score += factor * meaning
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
// separates good from bad ones. They compete with hits by words, and are marked as related.
const (
	// nearestFetch is the number of passages nearest in meaning that are ranked with those
	// that contain the words.
	nearestFetch = 50
	relatedMost  = 5 // hits of an answer that contain no word
	// relatedLeast is the least cosine of a hit without a word. Half of the good passages
	// have more than .34, and so have some bad ones.
	relatedLeast = 0.3
)

// Vectors searches passages by meaning. *embed.Searcher implements it.
type Vectors interface {
	SearchMeaning(ctx context.Context, text string, q archive.Query, k int) (*embed.Matches, error)
	// Chosen reports whether the user chose a model, which is better than the built-in table.
	Chosen() bool
}

// nearestPassages returns the IDs of the passages nearest in meaning to the request's text,
// none if that is literal.
func (s *search) nearestPassages(ctx context.Context) ([]int64, error) {
	if s.Vectors == nil || s.written != nil || literal(s.req.Text) {
		return nil, nil
	}
	var err error
	if s.matches == nil {
		if s.matches, err = s.Vectors.SearchMeaning(ctx, subject(s.req.Text), s.query, nearestFetch); err != nil {
			return nil, fmt.Errorf("search by meaning: %w", err)
		}
	}
	ids, meanings, err := s.matches.Passages(ctx)
	s.meanings = meanings
	return ids[:min(len(ids), nearestFetch)], archive.Wrap("search by meaning", err)
}

// withoutUnsure marks those of the nearest passages that have no word of the query as
// related, and leaves out those that are far in meaning, further ones after relatedMost, and
// all if another hit contains all words or if there is no other hit.
func withoutUnsure(hits []Hit, nearest []int64) []Hit {
	keep, left := false, relatedMost
	for i := range hits {
		h := &hits[i]
		h.Related = h.Why.BM25 <= 0 && slices.Contains(nearest, h.id)
		keep = keep || !h.Related
	}
	keep = keep && !slices.ContainsFunc(hits, containsAllWords)
	return slices.DeleteFunc(hits, func(h Hit) bool {
		if h.Related {
			left--
		}
		return h.Related && (!keep || left < 0 || h.Why.Meaning < relatedLeast)
	})
}

// related returns the passages nearest in meaning that contain the query's phrases, for a
// query whose words are in none.
func (s *search) related(ctx context.Context) ([]Hit, error) {
	hits := []Hit{}
	if s.matches == nil {
		return hits, nil
	}
	near, err := s.matches.Nearest(ctx, nearestFetch)
	if err != nil {
		return nil, fmt.Errorf("search by meaning: %w", err)
	}
	phrases := archive.Convert(s.req.Phrases, normalise)
	known := map[uint64]bool{}
	for _, n := range near {
		if len(hits) == min(s.query.Limit, relatedMost) || n.Level < relatedLeast {
			break
		}
		key := fingerprint(n.Text)
		if known[key] || !s.matchesFilters(n.Passage) || !containsAll(n.Text, phrases) {
			continue
		}
		known[key] = true
		h := newHit(n.Hit)
		h.Related, h.Why.Meaning, h.Score = true, n.Level, n.Level
		hits = append(hits, h)
	}
	return hits, nil
}
