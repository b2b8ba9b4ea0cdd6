// Package embed turns texts into vectors whose cosine says how near two texts
// are in meaning. One interface, several embedders in packages below it: static
// is built into the program and the default, onnx and openai run models that the
// user names, hash is the older systems' formula, for interchange only.
package embed

import (
	"context"
	"math"
)

// Embedder turns texts into unit vectors. Its methods may be called by several
// goroutines.
type Embedder interface {
	// Name identifies the model and all that decides its vectors. Vectors are
	// comparable only under one name; a change that moves them is a new name.
	Name() string
	// Dim is the length of every vector; 0 if that is known only after the
	// first answer of a service.
	Dim() int
	// Embed returns one vector for each text, in their order: a unit vector of
	// Dim components, or nil for a text of which the model knows nothing. It
	// takes at most MaxBatch texts. A text longer than the model reads is cut by
	// the model: callers give it pieces, see Chunks. It ends with ctx.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// MaxBatch is the most texts that one call of Embed takes.
const MaxBatch = 256

// Normalise makes v a unit vector and reports whether it could: a vector of
// zeros, or one with a component that is no number, has no direction.
func Normalise(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return false
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
	return true
}

// Cosine returns the dot product of two unit vectors of one length.
func Cosine(x, y []float32) float64 {
	var sum float64
	for i := range x {
		sum += float64(x[i]) * float64(y[i])
	}
	return sum
}
