package embed

import (
	"encoding/binary"
	"fmt"
	"math"
)

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
// It fails if data does not consist of whole vectors of dim components.
func Unpack(data []byte, dim int, each func(scale float32, row []byte)) error {
	size := rowSize(dim)
	if dim < 1 || len(data)%size != 0 {
		return fmt.Errorf("%d bytes are not whole vectors of %d components", len(data), dim)
	}
	for ; len(data) > 0; data = data[size:] {
		each(rowAt(data, 0, dim))
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
