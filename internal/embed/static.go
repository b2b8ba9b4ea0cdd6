package embed

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"

	"strandline/internal/archive"
)

// StaticName is the built-in table's name in vector rows, StaticDim the number of
// components of its vectors.
const (
	StaticName = "static-dev-1"
	StaticDim  = 128
)

// Static embeds texts with the built-in table of word stems: a text's vector is the
// weighted sum of its words' rows. It needs no model runtime, file or network.
// README.md describes the table. The table is loaded with the first text.
type Static struct{ load func() (*table, error) }

// NewStatic returns the embedder. It reads its table when it embeds the first text.
func NewStatic() *Static { return &Static{sync.OnceValues(loadBuiltIn)} }

// Name returns StaticName.
func (*Static) Name() string { return StaticName }

// Dim returns StaticDim.
func (*Static) Dim() int { return StaticDim }

// loadBuiltIn loads the embedded table.
func loadBuiltIn() (*table, error) {
	t, err := openTable(builtIn)
	return t, archive.Wrap("load the built-in embeddings", err)
}

// Embed implements Embedder. A text's vector is the sum over its distinct words of
// (1 + ln count) times the word's row, scaled to unit length. The length of a row is
// the word's learnt weight.
func (e *Static) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	t, err := e.load()
	if err != nil {
		return nil, err
	}
	words := tokenizer{table: t}
	counts := make([]uint16, t.n) // of each row in this text; zero between texts
	var seen []int                // the rows of this text, in order
	words.emit = func(row int) {
		if counts[row] == 0 {
			seen = append(seen, row)
		}
		if counts[row] < math.MaxUint16 {
			counts[row]++
		}
	}
	out := make([][]float32, len(texts))
	components := make([]float32, len(texts)*t.dim)
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := components[i*t.dim : (i+1)*t.dim : (i+1)*t.dim]
		seen = seen[:0]
		words.read(text)
		for _, row := range seen {
			weight := float32(1)
			if n := counts[row]; n > 1 {
				weight += float32(math.Log(float64(n)))
			}
			t.add(v, row, weight)
			counts[row] = 0
		}
		if Normalise(v) {
			out[i] = v
		}
	}
	return out, nil
}

//go:embed static-dev.svec
var builtIn string

// tableMagic starts a table file.
const tableMagic = "SVEC1\x00\x00\x00"

// Flags of a stem.
const (
	flagPiece = 1 << 0 // can be part of a compound that is split
	flagWhole = 1 << 1 // a camelCase word that is not split
)

// table is a file in the format
//
//	"SVEC1\0\0\0", u32 stems, u32 dimensions,
//	for each stem { u8 flags, u8 length, the stem },
//	a f32 scale for each stem, the int8 rows
//
// in little endian. The data is used in place.
type table struct {
	data string
	n    int
	dim  int
	at   []uint32 // offset of each stem's flags
	rows int      // offset of the scales
	// slots is a hash table with open addressing: a row's index plus 1, 0 if empty. A
	// map of 24,000 strings takes ten times as long to build.
	slots []uint16
	mask  uint32
}

// openTable reads the offsets of all stems. It checks that data is complete, so that
// later reads stay within it.
func openTable(data string) (*table, error) {
	if len(data) < len(tableMagic)+8 || data[:len(tableMagic)] != tableMagic {
		return nil, errors.New("the data is not a table of embeddings")
	}
	t := &table{data: data, n: readUint32(data, len(tableMagic)), dim: readUint32(data, len(tableMagic)+4)}
	if t.n < 1 || t.n >= math.MaxUint16 || t.dim < 1 || t.dim > 1<<12 {
		return nil, fmt.Errorf("a table of %d stems and %d dimensions is invalid", t.n, t.dim)
	}
	size := 1 << bits.Len(uint(2*t.n-1))
	t.at, t.slots, t.mask = make([]uint32, t.n), make([]uint16, size), uint32(size-1)
	at := len(tableMagic) + 8
	for i := range t.n {
		if at+2 > len(data) || at+2+int(data[at+1]) > len(data) {
			return nil, errors.New("the table is truncated in its stems")
		}
		t.at[i] = uint32(at)
		end := at + 2 + int(data[at+1])
		slot := fnv1a(data[at+2:end]) & t.mask
		for t.slots[slot] != 0 {
			slot = (slot + 1) & t.mask
		}
		t.slots[slot] = uint16(i + 1)
		at = end
	}
	t.rows = at
	if want := at + t.n*(4+t.dim); want != len(data) {
		return nil, fmt.Errorf("the table has %d bytes, want %d", len(data), want)
	}
	return t, nil
}

func readUint32(s string, at int) int { return int(binary.LittleEndian.Uint32([]byte(s[at : at+4]))) }

// fnv1a returns the 32-bit FNV-1a hash; package hash/fnv would copy the string.
func fnv1a[T string | []byte](s T) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// find returns the row of a stem and its flags.
func (t *table) find(stem []byte) (row int, flags byte, ok bool) {
	for slot := fnv1a(stem) & t.mask; t.slots[slot] != 0; slot = (slot + 1) & t.mask {
		row = int(t.slots[slot]) - 1
		at := int(t.at[row])
		if t.data[at+2:at+2+int(t.data[at+1])] == string(stem) {
			return row, t.data[at], true
		}
	}
	return 0, 0, false
}

// add adds weight times a row to v.
func (t *table) add(v []float32, row int, weight float32) {
	weight *= math.Float32frombits(uint32(readUint32(t.data, t.rows+4*row)))
	from := t.rows + 4*t.n + row*t.dim
	components := t.data[from : from+len(v)]
	for i := range v {
		v[i] += weight * float32(int8(components[i]))
	}
}
