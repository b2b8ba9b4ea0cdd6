// Package fts5 reads the blocks in which SQLite's FTS5 keeps a full-text index
// with detail=none: which segments there are, where in a segment a term stands,
// and the rowids behind it.
//
// FTS5 gives a list of rowids through the machine that runs SQL, one row after
// the other, at about a microsecond each; a search of a few common words reads
// tens of thousands. The same rowids stand in its blocks as differences of one or
// two bytes, and decoding them takes a hundredth of the time. The format is that
// of fts5_index.c, which says how it is laid out and has kept it since 2015.
// Whatever this package does not know is an ErrFormat, and its caller asks FTS5
// itself.
package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrFormat is a block that is not what this package knows.
var ErrFormat = errors.New("an unknown form of full-text block")

// Where the blocks stand in the index's data table.
const (
	// StructureRow is the row of the block that lists the segments.
	StructureRow = 10
	// Rows of a segment's leaves are numbered below its id, those of the rowids
	// deleted from it below an id that no segment has.
	segmentShift   = 37
	tombstoneShift = segmentShift + 16
)

// mainPrefix begins every term of the index itself, in contrast to those of
// prefix indexes.
const mainPrefix = '0'

// Key is a term as segments hold it.
func Key(term string) []byte { return append([]byte{mainPrefix}, term...) }

// Segment is one sorted run of terms, in leaves that are numbered from First to
// Last.
type Segment struct {
	ID, First, Last int64
	// Tombstones is the number of pages of rowids that were deleted from it.
	Tombstones int64
}

// Leaf is the row of the data table that holds leaf number no.
func (s Segment) Leaf(no int64) int64 { return s.ID<<segmentShift | no }

// TombstoneRows are the first and the last row of the pages of deleted rowids.
func (s Segment) TombstoneRows() (first, last int64) {
	first = s.ID<<segmentShift | 1<<tombstoneShift
	return first, first + s.Tombstones - 1
}

// secondVersion stands where an index can tell deleted rowids (contentless_delete).
const secondVersion = "\xff\x00\x00\x01"

// maxSegments is FTS5's own bound.
const maxSegments = 2000

// Segments reads the block at StructureRow. Segments come level by level, within a
// level the oldest first.
func Segments(block []byte) ([]Segment, error) {
	if len(block) < 4 {
		return nil, fmt.Errorf("%w: a structure of %d bytes", ErrFormat, len(block))
	}
	r := reader{rest: block[4:]} // behind a cookie that changes with the settings
	second := len(r.rest) >= len(secondVersion) && string(r.rest[:len(secondVersion)]) == secondVersion
	if second {
		r.rest = r.rest[len(secondVersion):]
	}
	levels, count := r.next(), r.next()
	r.next() // how much was ever written
	if levels > maxSegments || count > maxSegments {
		return nil, fmt.Errorf("%w: %d levels of %d segments", ErrFormat, levels, count)
	}
	var out []Segment
	for range levels {
		r.next() // how many of them are being merged
		for range min(r.next(), maxSegments+1) {
			s := Segment{ID: r.next(), First: r.next(), Last: r.next()}
			if second {
				r.next() // the first and the last transaction in it
				r.next()
				s.Tombstones = r.next()
				r.next() // rowids deleted
				r.next() // rowids
			}
			count--
			if s.First == 0 && s.Last == 0 && !r.bad {
				continue // all of it was moved on in a merge that is not through
			}
			if r.bad || s.First < 1 || s.Last < s.First || s.Last >= 1<<31 || s.ID < 1 || s.ID >= 1<<16 || s.Tombstones > 1<<31 {
				return nil, fmt.Errorf("%w: segment %+v", ErrFormat, s)
			}
			out = append(out, s)
		}
	}
	if r.bad || count != 0 || len(r.rest) > 0 {
		return nil, fmt.Errorf("%w: %d segments, and %d that are not as announced", ErrFormat, len(out), count)
	}
	return out, nil
}

// AppendTombstones appends the rowids on a page of deleted ones to dst.
func AppendTombstones(dst []int64, page []byte) ([]int64, error) {
	if len(page) < 8 {
		return dst, fmt.Errorf("%w: a page of deleted rowids of %d bytes", ErrFormat, len(page))
	}
	if page[1] != 0 {
		dst = append(dst, 0)
	}
	size := 8
	if page[0] == 4 {
		size = 4
	}
	for slots := page[8:]; len(slots) >= size; slots = slots[size:] {
		var id int64
		if size == 4 {
			id = int64(binary.BigEndian.Uint32(slots))
		} else {
			id = int64(binary.BigEndian.Uint64(slots))
		}
		if id != 0 { // a free slot
			dst = append(dst, id)
		}
	}
	return dst, nil
}

// reader reads varints; what is missing is 0 and noted.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) next() int64 {
	v, n := varint(r.rest)
	if n == 0 {
		r.bad = true
	}
	r.rest = r.rest[n:]
	return v
}

// varint reads SQLite's: seven bits a byte, the highest first, and eight in the
// ninth. n is 0 where b ends within it.
func varint(b []byte) (v int64, n int) {
	for i := range min(len(b), 9) {
		if i == 8 {
			return v<<8 | int64(b[i]), 9
		}
		v = v<<7 | int64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
