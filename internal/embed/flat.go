package embed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"

	"strandline/internal/archive"
)

// Flat is an open flat file. It may be searched by several goroutines. What a
// search needs is read, not mapped: of a million vectors it looks at sixteen
// megabytes of signs once and at two thousand rows, and entering pages into a new
// process's memory costs several times the copying.
type Flat struct {
	head   header
	f      *os.File
	blocks []block
}

// block is one block of an open file.
type block struct {
	rows int
	at   int64 // where it begins
	sections
	sum uint32
}

// Open opens a flat file for searching. It reads little of it: of the blocks only
// their headers are checked.
func Open(path string) (*Flat, error) { return openFlat(path) }

// openFlat is Open; its error is an errFormat if the file has to be written anew.
func openFlat(path string) (x *Flat, err error) {
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
		return nil, errFormat{fmt.Sprintf("is shorter than its header (%v)", err)}
	}
	head, err := decodeHeader(buf, info.Size())
	if err != nil {
		return nil, err
	}
	x = &Flat{head: head, f: f}
	if err := x.index(); err != nil {
		return nil, err
	}
	return x, nil
}

// index finds the blocks.
func (x *Flat) index() error {
	rows := 0
	var head [blockHeader]byte
	for at := int64(headerSize); at < x.head.size; {
		if n, err := x.f.ReadAt(head[:], at); n < blockHeader || string(head[:len(blockMagic)]) != blockMagic {
			return errors.Join(errFormat{"has a damaged block"}, notEOF(err))
		}
		n := int(binary.LittleEndian.Uint32(head[4:]))
		if n > blockRows || !fits(n, x.head.set.Dim, x.head.size) {
			return errFormat{"has a damaged block"}
		}
		b := block{rows: n, at: at, sections: layout(n, x.head.set.Dim), sum: binary.LittleEndian.Uint32(head[8:])}
		if int64(b.end) > x.head.size-at {
			return errFormat{"has a damaged block"}
		}
		x.blocks = append(x.blocks, b)
		rows += n
		at += int64(b.end)
	}
	if int64(rows) != x.head.vectors || len(x.blocks) != x.head.blocks {
		return errFormat{"does not hold what its header says"}
	}
	return nil
}

// notEOF drops the error of a file that is shorter than it should be, which is
// told otherwise.
func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// read fills buf from a place in a block.
func (x *Flat) read(b *block, from int, buf []byte) error {
	if _, err := x.f.ReadAt(buf, b.at+int64(from)); err != nil {
		return fmt.Errorf("read vectors: %w", err)
	}
	return nil
}

// readAll returns size bytes from a place in a block on.
func (x *Flat) readAll(b *block, from, size int) ([]byte, error) {
	buf := make([]byte, size)
	return buf, x.read(b, from, buf)
}

// verify reads all of the file and compares it with its checksums.
func (x *Flat) verify() error {
	for i := range x.blocks {
		b := &x.blocks[i]
		body, err := x.readAll(b, blockHeader, b.end-blockHeader)
		if err != nil {
			return err
		}
		if crc32.Checksum(body, castagnoli()) != b.sum {
			return errFormat{"has a damaged block"}
		}
	}
	return nil
}

// unfit returns why the file cannot become that of set by adding rows, empty if
// it can.
func (x *Flat) unfit(set archive.VectorSet) string {
	h := x.head.set
	switch {
	case h.Embedder != set.Embedder || h.Dim != set.Dim || h.Stamp != set.Stamp:
		return "the vector file is of another set"
	case h.Last > set.Last:
		return "the vector file is newer than the index"
	case (set.Gone-h.Gone)*goneShare > set.Rows:
		return "many of its passages are gone"
	}
	return ""
}

// each calls row for every vector.
func (x *Flat) each(row func(passage int64, scale float32, components []byte) error) error {
	for i := range x.blocks {
		b := &x.blocks[i]
		passages, err := x.readAll(b, b.passages, 8*b.rows)
		if err != nil {
			return err
		}
		vectors, err := x.readAll(b, b.vectors, b.rows*pieceSize(x.head.set.Dim))
		if err != nil {
			return err
		}
		for r := range b.rows {
			scale, components := piece(vectors, r, x.head.set.Dim)
			if err := row(passageAt(passages, r), scale, components); err != nil {
				return err
			}
		}
	}
	return nil
}

func passageAt(section []byte, row int) int64 {
	return int64(binary.LittleEndian.Uint64(section[8*row:]))
}

// piece returns a row of a section of vectors.
func piece(section []byte, row, dim int) (scale float32, components []byte) {
	size := pieceSize(dim)
	at := section[size*row : size*row+size]
	return math.Float32frombits(binary.LittleEndian.Uint32(at)), at[scaleSize:]
}

// Len returns how many vectors the file holds.
func (x *Flat) Len() int { return int(x.head.vectors) }

// Close closes the file. Searches must have ended.
func (x *Flat) Close() error {
	if err := x.f.Close(); err != nil {
		return fmt.Errorf("close vectors: %w", err)
	}
	return nil
}
