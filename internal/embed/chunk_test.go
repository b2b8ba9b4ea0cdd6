package embed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"strandline/internal/embed"
)

// lengths embeds a text as its length, and gives no vector for blanks and dots.
type lengths struct {
	batches []int
	fail    error
	short   bool
}

func (l *lengths) Embed(_ context.Context, texts []string) ([][]float32, error) {
	l.batches = append(l.batches, len(texts))
	if l.short {
		texts = texts[1:]
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if strings.Trim(t, ". ") != "" {
			out[i] = []float32{float32(len(t))}
		}
	}
	return out, l.fail
}

func TestEmbedChunks(t *testing.T) {
	long := strings.Repeat("x", embed.ChunkStep+embed.ChunkSize) // two chunks
	texts := []string{"a", "", "....", long, "bcd"}
	for name, test := range map[string]struct {
		most int
		want []string
	}{
		"all":          {0, []string{"0:1", "3:700", "3:700", "4:3"}},
		"the first":    {1, []string{"0:1", "3:700", "4:3"}},
		"more than is": {9, []string{"0:1", "3:700", "3:700", "4:3"}},
	} {
		var got []string
		err := embed.EmbedChunks(t.Context(), &lengths{}, texts, test.most, func(i int, v []float32) error {
			got = append(got, fmt.Sprintf("%d:%v", i, v[0]))
			return nil
		})
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %q (%v), want %q", name, got, err, test.want)
		}
	}
	l := &lengths{}
	n := 0
	err := embed.EmbedChunks(t.Context(), l, slices.Repeat([]string{"a"}, 2*embed.MaxBatch+1), 0, func(int, []float32) error { n++; return nil })
	if err != nil || n != 2*embed.MaxBatch+1 || !slices.Equal(l.batches, []int{embed.MaxBatch, embed.MaxBatch, 1}) {
		t.Errorf("%d vectors in batches of %v (%v)", n, l.batches, err)
	}
	l = &lengths{}
	if err := embed.EmbedChunks(t.Context(), l, []string{" ", ""}, 0, nil); err != nil || len(l.batches) != 0 {
		t.Errorf("nothing to embed: %v, %v", l.batches, err)
	}
}

func TestEmbedChunksEndsWithTheFirstError(t *testing.T) {
	down, full := errors.New("down"), errors.New("full")
	many := slices.Repeat([]string{"a"}, embed.MaxBatch+1)
	keep := func(int, []float32) error { return nil }
	for name, test := range map[string]struct {
		e    *lengths
		each func(int, []float32) error
		want error
	}{
		"of the embedder": {&lengths{fail: down}, keep, down},
		"of the caller":   {&lengths{}, func(int, []float32) error { return full }, full},
	} {
		if err := embed.EmbedChunks(t.Context(), test.e, many, 0, test.each); !errors.Is(err, test.want) || len(test.e.batches) != 1 {
			t.Errorf("%s: %v after batches of %v", name, err, test.e.batches)
		}
	}
	if err := embed.EmbedChunks(t.Context(), &lengths{short: true}, many, 0, keep); err == nil || !strings.Contains(err.Error(), "255 vectors for 256") {
		t.Errorf("fewer vectors than pieces: %v", err)
	}
}
