package embed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"os"

	"strandline/internal/archive"
)

// A flat file starts with a header of headerSize bytes, which has a checksum and is
// written last. Blocks of vectors follow. Each block consists of sections, so that
// a scan reads only what it needs:
//
//	block header  64 bytes: magic, number of rows, checksum of the sections
//	passages      rows * int64: the store's passage numbers
//	signs         rows * words * u64, one bit per component, set if it is positive
//	vectors       rows * { f32 scale, dim int8 }, as in the store
//
// All numbers are little endian; sections start at multiples of 64. Blocks are only
// appended. To remove one, a new file replaces the old one, so that processes that
// have the old file open continue to read it.
const (
	// Version 1 had scales and components in separate sections.
	formatVersion = 2
	headerMagic   = "STRVEC\r\n"
	blockMagic    = "VBLK"
	headerSize    = 4096
	blockHeader   = 64
	align         = 64
	// blockRows is the number of vectors in a full block.
	blockRows = 1 << 15
	maxName   = 512
)

// header describes the content of a file.
type header struct {
	set     archive.VectorSet // the store's set when the file was written
	vectors int64             // in all blocks; a passage can have several
	blocks  int
	size    int64 // of the valid part of the file
}

func (h *header) encode() ([]byte, error) {
	if len(h.set.Embedder) > maxName {
		return nil, fmt.Errorf("the embedder's name has %d bytes, the maximum is %d", len(h.set.Embedder), maxName)
	}
	le := binary.LittleEndian
	b := append(make([]byte, 0, headerSize), headerMagic...)
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

// formatError marks a file that cannot be used and has to be rebuilt.
type formatError string

func (e formatError) Error() string { return "the vector file " + string(e) }

// decodeHeader decodes the header of a file of the given size.
func decodeHeader(b []byte, fileSize int64) (h header, err error) {
	le := binary.LittleEndian
	if string(b[:len(headerMagic)]) != headerMagic {
		return h, formatError("has another format")
	}
	if v := le.Uint32(b[8:]); v != formatVersion {
		return h, formatError(fmt.Sprintf("has version %d", v))
	}
	if le.Uint32(b[headerSize-4:]) != crc32.Checksum(b[:headerSize-4], castagnoli()) {
		return h, formatError("has a damaged header")
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
	if h.set.Dim < 1 || h.size > fileSize || h.size < headerSize {
		return h, formatError("is truncated")
	}
	return h, nil
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// sections holds the offsets of a block's parts from the start of the block.
type sections struct{ passages, signs, vectors, end int }

// signWords is the number of 64-bit words for the signs of a vector.
func signWords(dim int) int { return (dim + 63) / 64 }

func layout(rows, dim int) (s sections) {
	aligned := func(n int) int { return (n + align - 1) / align * align }
	s.passages = blockHeader
	s.signs = aligned(s.passages + 8*rows)
	s.vectors = aligned(s.signs + 8*rows*signWords(dim))
	s.end = aligned(s.vectors + rows*rowSize(dim))
	return s
}

// Flat is an open flat file. It is safe for concurrent searches. A search reads the
// file instead of mapping it: of a million vectors it reads 16 MB of signs and two
// thousand rows, and mapping those pages costs a new process several times as much
// as copying them.
type Flat struct {
	head   header
	f      *os.File
	blocks []*block
}

// block is a block of an open file.
type block struct {
	index int // in Flat.blocks
	rows  int
	first int   // number of rows in earlier blocks
	at    int64 // offset in the file
	sections
	sum uint32
}

// OpenFlat opens a flat file for searching. It reads the file's header and the
// blocks' headers only. The error is a formatError if the file has to be rebuilt.
func OpenFlat(path string) (x *Flat, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open vectors: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open vectors: %w", err)
	}
	buf := make([]byte, headerSize)
	if n, err := f.ReadAt(buf, 0); n < headerSize {
		return nil, formatError(fmt.Sprintf("is shorter than its header (%v)", err))
	}
	x = &Flat{f: f}
	if x.head, err = decodeHeader(buf, info.Size()); err != nil {
		return nil, err
	}
	if err := x.readBlocks(); err != nil {
		return nil, err
	}
	return x, nil
}

// readBlocks reads the headers of all blocks.
func (x *Flat) readBlocks() error {
	const damaged = formatError("has a damaged block")
	rows := 0
	var head [blockHeader]byte
	for at := int64(headerSize); at < x.head.size; {
		n, err := x.f.ReadAt(head[:], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return errors.Join(damaged, err)
		}
		if n < blockHeader || string(head[:len(blockMagic)]) != blockMagic {
			return damaged
		}
		n = int(binary.LittleEndian.Uint32(head[4:]))
		if hi, lo := bits.Mul64(uint64(n), uint64(x.head.set.Dim)); n > blockRows || hi != 0 || lo > uint64(x.head.size) {
			return damaged
		}
		b := &block{index: len(x.blocks), rows: n, first: rows, at: at, sections: layout(n, x.head.set.Dim), sum: binary.LittleEndian.Uint32(head[8:])}
		if int64(b.end) > x.head.size-at {
			return damaged
		}
		x.blocks = append(x.blocks, b)
		rows += n
		at += int64(b.end)
	}
	if int64(rows) != x.head.vectors || len(x.blocks) != x.head.blocks {
		return formatError("does not match its header")
	}
	return nil
}

// read fills buf from an offset in a block.
func (x *Flat) read(b *block, from int, buf []byte) error {
	_, err := x.f.ReadAt(buf, b.at+int64(from))
	return archive.Wrap("read vectors", err)
}

// verify compares all blocks with their checksums.
func (x *Flat) verify() error {
	for _, b := range x.blocks {
		body := make([]byte, b.end-blockHeader)
		if err := x.read(b, blockHeader, body); err != nil {
			return err
		}
		if crc32.Checksum(body, castagnoli()) != b.sum {
			return formatError("has a damaged block")
		}
	}
	return nil
}

// mismatch returns why the file cannot be extended to set, or "" if it can.
func (x *Flat) mismatch(set archive.VectorSet) string {
	h := x.head.set
	switch {
	case h.Embedder != set.Embedder || h.Dim != set.Dim || h.Stamp != set.Stamp:
		return "the vector file belongs to another set"
	case h.Last > set.Last:
		return "the vector file is newer than the index"
	case (set.Gone-h.Gone)*deletedShare > set.Rows:
		return "many passages of the vector file were deleted"
	}
	return ""
}

// each calls fn for every vector.
func (x *Flat) each(fn func(passage int64, scale float32, components []byte) error) error {
	for _, b := range x.blocks {
		passages, vectors := make([]byte, 8*b.rows), make([]byte, b.rows*rowSize(x.head.set.Dim))
		if err := x.read(b, b.passages, passages); err != nil {
			return err
		}
		if err := x.read(b, b.vectors, vectors); err != nil {
			return err
		}
		for r := range b.rows {
			scale, components := rowAt(vectors, r, x.head.set.Dim)
			if err := fn(passageAt(passages, r), scale, components); err != nil {
				return err
			}
		}
	}
	return nil
}

func passageAt(section []byte, row int) int64 {
	return int64(binary.LittleEndian.Uint64(section[8*row:]))
}

// Len returns the number of vectors in the file.
func (x *Flat) Len() int { return int(x.head.vectors) }

// Close closes the file. All searches must have ended.
func (x *Flat) Close() error { return archive.Wrap("close vectors", x.f.Close()) }
