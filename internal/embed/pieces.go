package embed

import (
	"context"
	"fmt"
)

// Vectorizer is the part of an Embedder that makes vectors.
type Vectorizer interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Pieces embeds texts piece by piece, MaxBatch at a time and at most most pieces
// of each text (0: all), and calls each with the vectors, in their order. Pieces
// of which the embedder knows nothing are left out. An error of each ends it and
// is returned.
func Pieces(ctx context.Context, e Vectorizer, texts []string, most int, each func(text int, v []float32) error) error {
	var pieces []string
	var of []int // the text of each piece
	flush := func() error {
		if len(pieces) == 0 {
			return nil
		}
		vs, err := e.Embed(ctx, pieces)
		if err != nil {
			return err
		}
		if len(vs) != len(pieces) {
			return fmt.Errorf("%d vectors for %d pieces of text", len(vs), len(pieces))
		}
		for i, v := range vs {
			if v == nil {
				continue
			}
			if err := each(of[i], v); err != nil {
				return err
			}
		}
		pieces, of = pieces[:0], of[:0]
		return nil
	}
	for i, text := range texts {
		chunks := Chunks(text)
		if most > 0 {
			chunks = chunks[:min(len(chunks), most)]
		}
		for _, c := range chunks {
			pieces, of = append(pieces, c), append(of, i)
			if len(pieces) == MaxBatch {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}
