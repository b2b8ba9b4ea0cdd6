package embed

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"

	"strandline/internal/archive"
)

// A flat file begins with a header of headerSize bytes, which is written last and
// carries a checksum. Blocks follow it, each with the rows of some passages'
// vectors, section by section so that a scan reads only what it needs:
//
//	block header  64 bytes: magic, rows, checksum of what follows
//	passages      rows * int64: the store's numbers
//	signs         rows * words * u64, one bit for each component
//	vectors       rows * { f32 scale, dim int8 }, as in the store
//
// little endian; sections begin at multiples of 64. Blocks are only ever added;
// to take one away the file is written anew and put in the old one's place, so
// that whoever has it open goes on reading the old one.
const (
	// 1: scales and components in sections of their own.
	// 2: together, so that a vector is read in one piece.
	formatVersion = 2
	headerMagic   = "STRVEC\r\n"
	blockMagic    = "VBLK"
	headerSize    = 4096
	blockHeader   = 64
	align         = 64
	// blockRows is how many vectors a full block holds.
	blockRows = 1 << 15
	maxName   = 512
)

// header says what a file holds.
type header struct {
	set     archive.VectorSet // as it was when the file was written
	vectors int64             // rows of all blocks; a passage has several
	blocks  int
	size    int64 // of the file, up to where it is valid
}

func (h *header) encode() ([]byte, error) {
	if len(h.set.Embedder) > maxName {
		return nil, fmt.Errorf("an embedder's name of %d bytes", len(h.set.Embedder))
	}
	b := make([]byte, 0, headerSize)
	b = append(b, headerMagic...)
	le := binary.LittleEndian
	b = le.AppendUint32(b, formatVersion)
	b = le.AppendUint32(b, uint32(h.set.Dim))
	for _, n := range []int64{h.set.Rows, h.set.Last, h.set.Gone, h.set.Stamp, h.vectors, int64(h.blocks), h.size} {
		b = le.AppendUint64(b, uint64(n))
	}
	b = le.AppendUint16(b, uint16(len(h.set.Embedder)))
	b = append(b, h.set.Embedder...)
	b = append(b, make([]byte, headerSize-4-len(b))...)
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli())), nil
}

// errFormat marks files that cannot be used and have to be written anew.
type errFormat struct{ why string }

func (e errFormat) Error() string { return "the vector file " + e.why }

// decodeHeader reads a header; actual is the size of the file.
func decodeHeader(b []byte, actual int64) (h header, err error) {
	if len(b) < headerSize {
		return h, errFormat{"is shorter than its header"}
	}
	le := binary.LittleEndian
	if string(b[:len(headerMagic)]) != headerMagic {
		return h, errFormat{"is of another kind"}
	}
	if v := le.Uint32(b[8:]); v != formatVersion {
		return h, errFormat{fmt.Sprintf("has version %d", v)}
	}
	if le.Uint32(b[headerSize-4:]) != crc32.Checksum(b[:headerSize-4], castagnoli()) {
		return h, errFormat{"has a damaged header"}
	}
	h.set.Dim = int(le.Uint32(b[12:]))
	at := 16
	number := func() int64 {
		at += 8
		return int64(le.Uint64(b[at-8:]))
	}
	h.set.Rows, h.set.Last, h.set.Gone, h.set.Stamp = number(), number(), number(), number()
	h.vectors, h.blocks, h.size = number(), int(number()), number()
	n := int(le.Uint16(b[at:]))
	h.set.Embedder = string(b[at+2 : at+2+min(n, maxName)])
	if h.set.Dim < 1 || h.size > actual || h.size < headerSize {
		return h, errFormat{"is truncated"}
	}
	return h, nil
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// sections are where the parts of a block begin, from the block's beginning.
type sections struct{ passages, signs, vectors, end int }

func wordsOf(dim int) int { return (dim + 63) / 64 }

func aligned(n int) int { return (n + align - 1) / align * align }

func layout(rows, dim int) (s sections) {
	s.passages = blockHeader
	s.signs = aligned(s.passages + 8*rows)
	s.vectors = aligned(s.signs + 8*rows*wordsOf(dim))
	s.end = aligned(s.vectors + rows*pieceSize(dim))
	return s
}

// fits reports whether a block of rows may be of a file of size bytes, without
// overflow on a machine of 32 bits.
func fits(rows, dim int, size int64) bool {
	hi, lo := bits.Mul64(uint64(rows), uint64(dim))
	return hi == 0 && lo <= uint64(size)
}
