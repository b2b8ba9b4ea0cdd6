package recall

import (
	"context"
	"strings"
	"unicode"

	"strandline/internal/embed"
)

// Meaning joins the words' score where texts are at hand: a hit's cosine to the
// query, by the embedder that is built in, counts beside what its words,
// neighbours, turn and session say. It reorders what the words found.

// weighMeaning is what a cosine of 1 counts in units of the best passage's
// words. Between passages that have nothing to do with each other cosines
// spread by a tenth, so an unusual one moves a hit by about half a unit.
const weighMeaning = 2.7

// maxChunks bounds how much of a long passage is embedded: most of them say in
// their first 1,700 characters what they are about.
const maxChunks = 3

// Embedder makes unit vectors of texts; nil for a text it knows nothing of. It
// takes at most embed.MaxBatch texts.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// addMeaning adds to each hit's score how near its text is to the query.
func addMeaning(ctx context.Context, e Embedder, query string, hits []Hit) error {
	if e == nil || len(hits) == 0 || literal(query) {
		return nil
	}
	vs, err := e.Embed(ctx, []string{query})
	if err != nil || vs[0] == nil {
		return err
	}
	q := vs[0]
	var texts []string
	var of []int
	flush := func() error {
		vs, err := e.Embed(ctx, texts)
		if err != nil {
			return err
		}
		for i, v := range vs {
			if v != nil {
				h := &hits[of[i]]
				h.Why.Meaning = max(h.Why.Meaning, embed.Cosine(q, v))
			}
		}
		texts, of = texts[:0], of[:0]
		return nil
	}
	for i := range hits {
		chunks := embed.Chunks(hits[i].Text)
		for _, c := range chunks[:min(len(chunks), maxChunks)] {
			texts, of = append(texts, c), append(of, i)
			if len(texts) == embed.MaxBatch {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	for i := range hits {
		hits[i].Score += weighMeaning * hits[i].Why.Meaning
	}
	return nil
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
