package embed

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A text is embedded in chunks of ChunkSize characters that start ChunkStep apart.
// The cosine of a text is the largest of its chunks, because one vector for a long
// text matches everything a little and nothing well.
const (
	ChunkSize = 700
	ChunkStep = 525
)

// Chunks splits a text into the parts that are embedded. Each run of white space
// becomes one blank first. It returns nil for a blank text.
func Chunks(text string) (out []string) {
	flat := strings.Join(strings.Fields(text), " ")
	var starts []int
	n := 0
	for at := range flat {
		if n%ChunkStep == 0 {
			starts = append(starts, at)
		}
		if n >= ChunkSize && (n-ChunkSize)%ChunkStep == 0 {
			out = append(out, flat[starts[len(out)]:at])
		}
		n++
	}
	if n > 0 {
		out = append(out, flat[starts[len(out)]:])
	}
	return out
}

// EmbedChunks embeds the first limit chunks of each text (0: all), MaxBatch at a
// time, and calls each with the index of the text and a chunk's vector, in order.
// Chunks without a vector are skipped. An error of each ends the run.
func EmbedChunks(ctx context.Context, e Vectorizer, texts []string, limit int, each func(text int, v []float32) error) error {
	var chunks []string
	var owner []int // the text of each chunk
	for i, text := range texts {
		all := Chunks(text)
		if limit > 0 {
			all = all[:min(len(all), limit)]
		}
		chunks, owner = append(chunks, all...), append(owner, slices.Repeat([]int{i}, len(all))...)
	}
	for batch := range slices.Chunk(chunks, MaxBatch) {
		vs, err := e.Embed(ctx, batch)
		if err != nil {
			return err
		}
		if len(vs) != len(batch) {
			return fmt.Errorf("%d vectors for %d chunks of text", len(vs), len(batch))
		}
		for i, v := range vs {
			if v == nil {
				continue
			}
			if err := each(owner[i], v); err != nil {
				return err
			}
		}
		owner = owner[len(batch):]
	}
	return nil
}
