// Package static embeds texts with a table of word stems that is built into the
// program: a text's vector is a weighted sum of the rows of its words. It needs
// no model runtime, no file and no network, and takes about as long as reading
// the text. README.md beside it says what the table was made of.
package embed

import (
	"context"
	"fmt"
	"math"
	"sync"
)

// StaticName is the built-in table's name in vector rows.
const StaticName = "static-dev-1"

// StaticDim is the length of the built-in table's vectors.
const StaticDim = 128

// Static embeds with the built-in table. The zero value is ready; the table is
// looked at when the first text comes.
type Static struct {
	once  sync.Once
	table *table
	err   error
}

var _ Embedder = (*Static)(nil)

// NewStatic returns an Embedder. It reads nothing yet.
func NewStatic() *Static { return &Static{} }

// Name returns Name.
func (*Static) Name() string { return StaticName }

// Dim returns the constant Dim.
func (*Static) Dim() int { return StaticDim }

// load finds the stems in the table, once.
func (e *Static) load() (*table, error) {
	e.once.Do(func() {
		if e.table, e.err = openTable(builtIn); e.err != nil {
			e.err = fmt.Errorf("the built-in embeddings: %w", e.err)
		}
	})
	return e.table, e.err
}

// Embed returns a vector for each text with at least one known word: the sum
// over its different words of (1 + ln count) times the word's row, as a unit
// vector. A row's length is the word's learnt weight, so rows are not normalised.
func (e *Static) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	t, err := e.load()
	if err != nil {
		return nil, err
	}
	s := summer{table: t, counts: make([]uint16, t.n)}
	out := make([][]float32, len(texts))
	numbers := make([]float32, len(texts)*t.dim)
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := numbers[i*t.dim : (i+1)*t.dim : (i+1)*t.dim]
		if s.sum(v, text) {
			out[i] = v
		}
	}
	return out, nil
}

// summer adds up rows; it keeps its memory between texts.
type summer struct {
	table  *table
	tokens tokens
	counts []uint16 // how often each row occurs in this text; zero between texts
	seen   []int    // the rows that do, in the order in which they came
}

func (s *summer) sum(v []float32, text string) bool {
	s.seen = s.seen[:0]
	s.tokens.read(s.table, text, func(row int) {
		if s.counts[row] == 0 {
			s.seen = append(s.seen, row)
		}
		if s.counts[row] < math.MaxUint16 {
			s.counts[row]++
		}
	})
	for _, row := range s.seen {
		weight := float32(1)
		if n := s.counts[row]; n > 1 {
			weight += float32(math.Log(float64(n)))
		}
		s.table.add(v, row, weight)
		s.counts[row] = 0
	}
	return Normalise(v)
}
