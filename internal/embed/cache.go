package embed

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"os"

	"strandline/internal/state"
)

// A file of remembered queries holds no text: a query is the first bytes of a
// checksum of what was left of it after redaction, and of the model's name.
//
//	"STRQRY1\n", u32 components of each vector,
//	for each query, the newest first { 16 bytes, f32 components },
//	u32 checksum of all before it
//
// little endian. It is derived, and small; one that cannot be read is none.
const (
	cacheMagic = "STRQRY1\n"
	keySize    = 16
	kept       = 128 // queries
	maxDim     = 1 << 14
	// maxCache is the largest file that is read.
	maxCache = len(cacheMagic) + 4 + kept*(keySize+4*maxDim) + 4
)

// entry is one remembered query.
type entry struct {
	key [keySize]byte
	v   []float32
}

func keyOf(model, text string) (key [keySize]byte) {
	sum := sha256.Sum256([]byte(model + "\x00" + text))
	copy(key[:], sum[:])
	return key
}

// remembered returns the vector of a query.
func remembered(path, model, text string) ([]float32, bool) {
	if path == "" {
		return nil, false
	}
	key := keyOf(model, text)
	for _, e := range load(path) {
		if e.key == key {
			return e.v, true
		}
	}
	return nil, false
}

// remember puts a query first. Another process that does the same at this moment
// may win; then the query is embedded once more.
func remember(path, model, text string, v []float32) {
	if path == "" || len(v) > maxDim {
		return
	}
	entries := []entry{{keyOf(model, text), v}}
	for _, e := range load(path) {
		if len(entries) < kept && e.key != entries[0].key && len(e.v) == len(v) {
			entries = append(entries, e)
		}
	}
	_ = state.Replace(path, encode(entries)) // a query that is not remembered is only slower
}

func load(path string) []entry {
	info, err := os.Stat(path)
	if err != nil || info.Size() > int64(maxCache) {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	entries, err := decode(data)
	if err != nil {
		return nil
	}
	return entries
}

// encode writes entries of one length.
func encode(entries []entry) []byte {
	le := binary.LittleEndian
	b := append([]byte(nil), cacheMagic...)
	b = le.AppendUint32(b, uint32(len(entries[0].v)))
	for _, e := range entries {
		b = append(b, e.key[:]...)
		for _, x := range e.v {
			b = le.AppendUint32(b, math.Float32bits(x))
		}
	}
	return le.AppendUint32(b, crc32.ChecksumIEEE(b))
}

var errDamaged = errors.New("the file of remembered queries is damaged")

func decode(b []byte) ([]entry, error) {
	le := binary.LittleEndian
	head := len(cacheMagic) + 4
	if len(b) < head+4 || string(b[:len(cacheMagic)]) != cacheMagic || le.Uint32(b[len(b)-4:]) != crc32.ChecksumIEEE(b[:len(b)-4]) {
		return nil, errDamaged
	}
	dim := int(le.Uint32(b[len(cacheMagic):]))
	b = b[head : len(b)-4]
	if dim < 1 || dim > maxDim || len(b)%(keySize+4*dim) != 0 {
		return nil, errDamaged
	}
	entries := make([]entry, 0, len(b)/(keySize+4*dim))
	for ; len(b) > 0; b = b[keySize+4*dim:] {
		e := entry{v: make([]float32, dim)}
		copy(e.key[:], b)
		for i := range e.v {
			e.v[i] = math.Float32frombits(le.Uint32(b[keySize+4*i:]))
		}
		entries = append(entries, e)
	}
	return entries, nil
}
