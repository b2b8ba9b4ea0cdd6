package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"

	"strandline/internal/archive"
)

// Flat is an open flat file. It may be searched by several goroutines.
type Flat struct {
	head   header
	data   []byte
	unmap  func() error
	blocks []block
}

// block is one block of an open file.
type block struct {
	rows       int
	first      int // number of the first row within the file
	passages   []byte
	scales     []byte
	signs      []byte
	components []byte
	sum        uint32
	body       []byte
}

func (b *block) passage(i int) int64 { return int64(binary.LittleEndian.Uint64(b.passages[8*i:])) }

func (b *block) scale(i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(b.scales[4*i:]))
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
	defer func() { err = errors.Join(err, f.Close()) }()
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
	if head.size > math.MaxInt/2 {
		return nil, errFormat{"is too large for this machine"}
	}
	data, unmap, err := mapFile(f, int(head.size))
	if err != nil {
		return nil, fmt.Errorf("map vectors: %w", err)
	}
	x = &Flat{head: head, data: data, unmap: unmap}
	if err := x.index(); err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// index finds the blocks.
func (x *Flat) index() error {
	at, rows := headerSize, 0
	for at < len(x.data) {
		if at+blockHeader > len(x.data) || string(x.data[at:at+len(blockMagic)]) != blockMagic {
			return errFormat{"has a damaged block"}
		}
		n := int(binary.LittleEndian.Uint32(x.data[at+4:]))
		if n > blockRows || !fits(n, x.head.set.Dim, x.head.size) {
			return errFormat{"has a damaged block"}
		}
		s := layout(n, x.head.set.Dim)
		if s.end > len(x.data)-at {
			return errFormat{"has a damaged block"}
		}
		b := x.data[at : at+s.end : at+s.end]
		x.blocks = append(x.blocks, block{
			rows: n, first: rows,
			passages: b[s.passages:], scales: b[s.scales:], signs: b[s.signs:], components: b[s.components:],
			sum: binary.LittleEndian.Uint32(b[8:]), body: b[blockHeader:],
		})
		rows += n
		at += s.end
	}
	if int64(rows) != x.head.vectors || len(x.blocks) != x.head.blocks {
		return errFormat{"does not hold what its header says"}
	}
	return nil
}

// verify reads all of the file and compares it with its checksums.
func (x *Flat) verify() error {
	for i := range x.blocks {
		if b := &x.blocks[i]; crc32.Checksum(b.body, castagnoli()) != b.sum {
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
	dim := x.head.set.Dim
	for i := range x.blocks {
		b := &x.blocks[i]
		for r := range b.rows {
			if err := row(b.passage(r), b.scale(r), b.components[r*dim:(r+1)*dim]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Len returns how many vectors the file holds.
func (x *Flat) Len() int { return int(x.head.vectors) }

// Close releases the file. Searches must have ended.
func (x *Flat) Close() error {
	x.blocks, x.data = nil, nil
	if err := x.unmap(); err != nil {
		return fmt.Errorf("close vectors: %w", err)
	}
	return nil
}
