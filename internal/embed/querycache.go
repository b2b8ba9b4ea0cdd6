package embed

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"

	"strandline/internal/state"
)

// The file of cached queries contains no text. A query's key is the first bytes of a
// SHA-256 of the model's name and the redacted query:
//
//	"STRQRY1\n", u32 components of each vector,
//	for each query, newest first { 16 bytes key, f32 components },
//	u32 checksum of everything before it
//
// All numbers are little endian. The file is derived; a damaged one is ignored.
const (
	cacheMagic   = "STRQRY1\n"
	keySize      = 16
	cacheEntries = 128
	maxQueryDim  = 1 << 14
	// maxCacheSize is the largest file that is read.
	maxCacheSize = len(cacheMagic) + 4 + cacheEntries*(keySize+4*maxQueryDim) + 4
)

// queryCache is the file with the latest query vectors of a model.
type queryCache struct{ path, model string }

// cacheEntry is one cached query.
type cacheEntry struct {
	key [keySize]byte
	v   []float32
}

func (c queryCache) key(text string) (key [keySize]byte) {
	sum := sha256.Sum256([]byte(c.model + "\x00" + text))
	copy(key[:], sum[:])
	return key
}

// get returns the vector of a query.
func (c queryCache) get(text string) ([]float32, bool) {
	key := c.key(text)
	for _, e := range c.load() {
		if e.key == key {
			return e.v, true
		}
	}
	return nil, false
}

// put adds a query in front. If two processes write at the same time, one of the
// queries is lost and embedded again when it recurs.
func (c queryCache) put(text string, v []float32) {
	if c.path == "" || len(v) > maxQueryDim {
		return
	}
	entries := []cacheEntry{{c.key(text), v}}
	for _, e := range c.load() {
		if len(entries) < cacheEntries && e.key != entries[0].key && len(e.v) == len(v) {
			entries = append(entries, e)
		}
	}
	_ = state.Replace(c.path, encodeCache(entries)) // an uncached query is only slower
}

// load returns the entries of the file, or nil if there is none or it is damaged.
func (c queryCache) load() []cacheEntry {
	if c.path == "" {
		return nil
	}
	if info, err := os.Stat(c.path); err != nil || info.Size() > int64(maxCacheSize) {
		return nil
	}
	data, _ := os.ReadFile(c.path)
	entries, _ := decodeCache(data)
	return entries
}

// encodeCache encodes entries whose vectors have equal length.
func encodeCache(entries []cacheEntry) []byte {
	le := binary.LittleEndian
	b := append([]byte(nil), cacheMagic...)
	b = le.AppendUint32(b, uint32(len(entries[0].v)))
	for _, e := range entries {
		b = append(b, e.key[:]...)
		b, _ = binary.Append(b, le, e.v) // cannot fail for numbers
	}
	return le.AppendUint32(b, crc32.ChecksumIEEE(b))
}

var errDamagedCache = errors.New("the file of cached queries is damaged")

func decodeCache(b []byte) ([]cacheEntry, error) {
	le := binary.LittleEndian
	head := len(cacheMagic) + 4
	if len(b) < head+4 || string(b[:len(cacheMagic)]) != cacheMagic || le.Uint32(b[len(b)-4:]) != crc32.ChecksumIEEE(b[:len(b)-4]) {
		return nil, errDamagedCache
	}
	dim := int(le.Uint32(b[len(cacheMagic):]))
	b = b[head : len(b)-4]
	size := keySize + 4*dim
	if dim < 1 || dim > maxQueryDim || len(b)%size != 0 {
		return nil, errDamagedCache
	}
	entries := make([]cacheEntry, 0, len(b)/size)
	for ; len(b) > 0; b = b[size:] {
		e := cacheEntry{v: make([]float32, dim)}
		copy(e.key[:], b)
		_, _ = binary.Decode(b[keySize:], le, e.v) // cannot fail, b is long enough
		entries = append(entries, e)
	}
	return entries, nil
}
