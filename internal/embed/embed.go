// Package embed turns texts into vectors, stores them quantised, and finds the
// passages whose vectors are nearest to a query's. The cosine of two vectors says
// how close two texts are in meaning.
//
// Static is the built-in embedder. Package onnx runs models that the user adds,
// package remote calls an endpoint. The rows in the store are the source of truth;
// the flat files of VectorDir are derived from them and can be deleted at any time.
package embed

import (
	"context"
	"math"
)

// Embedder turns texts into unit vectors. It is safe for concurrent use.
type Embedder interface {
	// Name identifies the model and everything that determines its vectors. Only
	// vectors of one name are comparable; a change of the vectors needs a new name.
	Name() string
	// Dim is the number of components of every vector, or 0 until a service has
	// answered for the first time.
	Dim() int
	Vectorizer
}

// Vectorizer is the part of an Embedder that makes vectors.
type Vectorizer interface {
	// Embed returns one vector for each of at most MaxBatch texts, in their order: a
	// unit vector of Dim components, or nil for a text without a known word. The
	// model truncates long texts; callers split them with Chunks.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// MaxBatch is the largest number of texts in one call of Embed.
const MaxBatch = 256

// Normalise scales v to unit length. It returns false if v has no direction: all
// components are 0, or one is NaN or infinite.
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

// Cosine returns the dot product of two unit vectors of equal length.
func Cosine(x, y []float32) float64 {
	var sum float64
	for i := range x {
		sum += float64(x[i]) * float64(y[i])
	}
	return sum
}
