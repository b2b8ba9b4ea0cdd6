// Package hash gives the vectors that claude-flow and its successors wrote where
// they had no model, so that their stores can be read and written. They say
// nothing about meaning, and hardly anything about words: every component is
// above 0 and depends on the whole text, so two texts that share all but one
// letter are as near as two that share nothing. They rank by chance and are never
// used for ranking.
package hash

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"

	"strandline/internal/embed"
)

// Embedder computes the formula for one dimension.
type Embedder struct{ dim int }

var _ embed.Embedder = Embedder{}

// New returns the embedder of a dimension; 768 and 384 are in use.
func New(dim int) Embedder { return Embedder{dim} }

// Name returns "hash-768" or "hash-384", as those systems call it.
func (e Embedder) Name() string { return fmt.Sprintf("hash-%d", e.dim) }

// Dim returns the dimension.
func (e Embedder) Dim() int { return e.dim }

// Embed computes for each component i, from 0, over the UTF-16 units u of the
// text in small letters without white space at its ends,
//
//	h = 31*h + (i+1)*u  in 32 bits with a sign, from 0;  component = (sin h + 1) / 2
//
// and divides by the length.
func (e Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for n, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		units := utf16.Encode([]rune(strings.TrimSpace(strings.ToLower(text))))
		v := make([]float32, e.dim)
		for i := range v {
			h := int32(0)
			for _, u := range units {
				h = 31*h + int32(u)*int32(i+1)
			}
			v[i] = float32((math.Sin(float64(h)) + 1) / 2)
		}
		embed.Normalise(v)
		out[n] = v
	}
	return out, nil
}
