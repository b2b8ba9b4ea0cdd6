package embed

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

//go:embed static-dev.svec
var builtIn string

// tableMagic begins a table file of the one version there is.
const tableMagic = "SVEC1\x00\x00\x00"

// Flags of a stem.
const (
	flagPiece = 1 << 0 // may be a piece of a split compound
	flagWhole = 1 << 1 // keeps a camelCase word whole
)

// table is a file of the form
//
//	"SVEC1\0\0\0", u32 stems, u32 dimensions,
//	for each stem { u8 flags, u8 length, the stem },
//	a f32 scale for each stem, the int8 rows
//
// little endian, with nothing behind it. It stays as it is in memory; only where
// each stem stands is noted.
type table struct {
	data string
	n    int
	dim  int
	at   []uint32 // offset of each stem's flags
	rows int      // offset of the scales
	// slots is a hash table with open addressing: a row's number plus one, 0 for
	// an empty slot. A map of 24,000 strings takes ten times as long to build.
	slots []uint16
	mask  uint32
}

// openTable reads the places of all stems. It checks that the file is whole, so that
// later reads stay within it.
func openTable(data string) (*table, error) {
	if len(data) < len(tableMagic)+8 || data[:len(tableMagic)] != tableMagic {
		return nil, fmt.Errorf("no table of static embeddings")
	}
	t := &table{data: data, n: u32(data, len(tableMagic)), dim: u32(data, len(tableMagic)+4)}
	if t.n < 1 || t.n >= math.MaxUint16 || t.dim < 1 || t.dim > 1<<12 {
		return nil, fmt.Errorf("a table of %d stems of %d dimensions", t.n, t.dim)
	}
	size := 1 << bits.Len(uint(2*t.n-1))
	t.at, t.slots, t.mask = make([]uint32, t.n), make([]uint16, size), uint32(size-1)
	at := len(tableMagic) + 8
	for i := range t.n {
		if at+2 > len(data) || at+2+int(data[at+1]) > len(data) {
			return nil, fmt.Errorf("the table ends within its stems")
		}
		t.at[i] = uint32(at)
		end := at + 2 + int(data[at+1])
		slot := hashOf(data[at+2:end]) & t.mask
		for t.slots[slot] != 0 {
			slot = (slot + 1) & t.mask
		}
		t.slots[slot] = uint16(i + 1)
		at = end
	}
	t.rows = at
	if want := at + t.n*(4+t.dim); want != len(data) {
		return nil, fmt.Errorf("the table has %d bytes, %d are expected", len(data), want)
	}
	return t, nil
}

func u32(s string, at int) int {
	return int(binary.LittleEndian.Uint32([]byte(s[at : at+4])))
}

// hashOf is FNV-1a.
func hashOf[T string | []byte](s T) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// find returns the row of a stem and its flags.
func (t *table) find(stem []byte) (row int, flags byte, ok bool) {
	for slot := hashOf(stem) & t.mask; t.slots[slot] != 0; slot = (slot + 1) & t.mask {
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
	weight *= math.Float32frombits(uint32(u32(t.data, t.rows+4*row)))
	from := t.rows + 4*t.n + row*t.dim
	numbers := t.data[from : from+len(v)]
	for i := range v {
		v[i] += weight * float32(int8(numbers[i]))
	}
}
