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
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
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

// A vector is stored as a scale and one int8 per component: component = scale *
// int8, and the largest component of the vector is 127. The vectors of a passage
// follow each other, little endian:
//
//	f32 scale, dim int8; f32 scale, dim int8; ...
const (
	scaleSize = 4
	maxInt8   = 127
)

// rowSize is the size of one vector in bytes.
func rowSize(dim int) int { return scaleSize + dim }

// Pack appends the quantised form of a unit vector to data.
func Pack(data []byte, v []float32) []byte {
	var largest float32
	for _, x := range v {
		largest = max(largest, x, -x)
	}
	scale := largest / maxInt8
	data = binary.LittleEndian.AppendUint32(data, math.Float32bits(scale))
	for _, x := range v {
		n := float64(0)
		if scale > 0 {
			n = math.RoundToEven(float64(x) / float64(scale))
		}
		data = append(data, byte(int8(max(-maxInt8, min(maxInt8, n)))))
	}
	return data
}

// Unpack calls each for every vector in data: component i is scale * int8(row[i]).
// It fails with the first error of each, or if data does not consist of whole vectors
// of dim components.
func Unpack(data []byte, dim int, each func(scale float32, row []byte) error) error {
	size := rowSize(dim)
	if dim < 1 || len(data)%size != 0 {
		return fmt.Errorf("%d bytes are not whole vectors of %d components", len(data), dim)
	}
	for ; len(data) > 0; data = data[size:] {
		if err := each(rowAt(data, 0, dim)); err != nil {
			return err
		}
	}
	return nil
}

// rowAt returns the vector with the given index in consecutive vectors.
func rowAt(vectors []byte, row, dim int) (scale float32, components []byte) {
	size := rowSize(dim)
	data := vectors[size*row : size*row+size : size*row+size]
	return math.Float32frombits(binary.LittleEndian.Uint32(data)), data[scaleSize:]
}

// dot returns the product of a query and the int8 components of a row.
func dot(q []float32, row []byte) float32 {
	row = row[:len(q)]
	var a, b, c, d float32
	i := 0
	for ; i+4 <= len(q); i += 4 {
		a += q[i] * float32(int8(row[i]))
		b += q[i+1] * float32(int8(row[i+1]))
		c += q[i+2] * float32(int8(row[i+2]))
		d += q[i+3] * float32(int8(row[i+3]))
	}
	for ; i < len(q); i++ {
		a += q[i] * float32(int8(row[i]))
	}
	return a + b + c + d
}

// appendBits appends bit(0) to bit(n-1) to words, 64 to a word.
func appendBits(words []uint64, n int, bit func(i int) bool) []uint64 {
	for from := 0; from < n; from += 64 {
		var w uint64
		for i := from; i < min(from+64, n); i++ {
			if bit(i) {
				w |= 1 << (i - from)
			}
		}
		words = append(words, w)
	}
	return words
}
