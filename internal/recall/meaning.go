package recall

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"strandline/internal/archive"
	"strandline/internal/embed"
)

// Meaning joins the words' score where texts are at hand: a hit's cosine to the
// query, by the embedder that is built in, counts beside what its words,
// neighbours, turn and session say. It reorders what the words found.

// What a cosine of 1 counts in units of the best passage's words: the hit's own,
// the best one of its turn, and that of the passage behind it. Between passages
// that have nothing to do with each other cosines spread by a tenth, so an unusual
// one moves a hit by a fifth of a unit.
const (
	weighMeaning = 0.85
	weighTurn    = 0.85
	weighBehind  = 0.5
)

// maxChunks bounds how much of a long passage is embedded: most of them say in
// their first 1,200 characters what they are about.
const maxChunks = 2

// Embedder makes unit vectors of texts; nil for a text it knows nothing of.
type Embedder = embed.Vectorizer

// addMeaning notes in each hit how near its text is to the query.
func addMeaning(ctx context.Context, e Embedder, query string, hits []Hit) error {
	if e == nil || len(hits) == 0 || literal(query) {
		return nil
	}
	vs, err := e.Embed(ctx, []string{query})
	if err != nil || vs[0] == nil {
		return err
	}
	q := vs[0]
	texts := make([]string, len(hits))
	for i := range hits {
		texts[i] = hits[i].Text
	}
	return embed.EmbedChunks(ctx, e, texts, maxChunks, func(i int, v []float32) error {
		hits[i].Why.Meaning = max(hits[i].Why.Meaning, embed.Cosine(q, v))
		return nil
	})
}

// byModel replaces the cosines of hits that a chosen model has vectors of: a model
// that reads whole sentences knows better than a table of words. They come on the
// table's scale, so that hits which the model has not seen yet stand beside them.
func (s *search) byModel(ctx context.Context, hits []Hit) error {
	if s.vectors == nil || !s.vectors.Chosen() || len(hits) == 0 || literal(s.req.Text) {
		return nil
	}
	asked, err := s.ask(ctx)
	if err != nil {
		return err
	}
	ids := make([]int64, len(hits))
	for i, h := range hits {
		ids[i] = h.id
	}
	of, err := asked.Meanings(ctx, ids)
	if err != nil {
		return fmt.Errorf("search by meaning: %w", err)
	}
	for i := range hits {
		if m, ok := of[hits[i].id]; ok && m.Chosen {
			hits[i].Why.Meaning = m.Level
		}
	}
	return nil
}

// weigh adds to the hits' scores what they mean, and what is found around them
// means: people come back to a thing, and one sentence in ten says what it is.
func weigh(hits []Hit) {
	turns := make(map[archive.Ref]float64, len(hits))
	behind := make(map[int64]float64, len(hits))
	for i := range hits {
		h := &hits[i]
		turns[h.turn()] = max(turns[h.turn()], h.Why.Meaning)
		behind[h.Why.Follows] = h.Why.Meaning
	}
	for i := range hits {
		h := &hits[i]
		h.Score += weighMeaning*h.Why.Meaning + weighTurn*turns[h.turn()]
		if h.id != 0 {
			h.Score += weighBehind * behind[h.id]
		}
	}
}

// literal reports whether a query is a single word or nothing but names:
// identifiers, paths, error codes, numbers, quoted text. What they mean is what
// they are, and loading the table costs more than finding a rare word.
func literal(query string) bool {
	words := strings.Fields(query)
	if len(words) == 1 {
		return true
	}
	for _, w := range words {
		if !isName(w) {
			return false
		}
	}
	return len(words) > 0
}

// isName reports whether a word has the inner structure of a name.
func isName(w string) bool {
	if strings.ContainsAny(w, `"*_./\:#@`) {
		return true
	}
	lower := false
	for _, r := range w {
		switch {
		case unicode.IsDigit(r), unicode.IsUpper(r) && lower:
			return true
		case unicode.IsLower(r):
			lower = true
		}
	}
	return false
}
