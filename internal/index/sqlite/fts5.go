package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// FTS5 returns a list of rowids through SQLite's virtual machine, at about a microsecond
// for each row, and a search of a few common words reads tens of thousands. In FTS5's
// blocks the rowids are stored as differences of one or two bytes, which decode a hundred
// times faster. The code in fts5.go and leaf.go reads these blocks, for tables with
// detail=none; fts5_index.c documents the format, which has not changed since 2015. If a
// block has an unknown format (ErrFormat), the caller uses FTS5 itself.

// ErrFormat is returned for a block with an unknown format.
var ErrFormat = errors.New("unknown format of a full-text block")

// The rows of blocks in the table words_data.
const (
	// StructureRow is the row of the block that lists the segments.
	StructureRow = 10
	// The row of a leaf is the segment's ID shifted by segmentShift, plus the leaf's
	// number. Pages of deleted rowids have bit tombstoneShift set.
	segmentShift   = 37
	tombstoneShift = segmentShift + 16
)

// mainPrefix precedes every term of the main index. Prefix indexes have other characters.
const mainPrefix = '0'

// Key returns a term as it is stored in segments.
func Key(term string) []byte { return append([]byte{mainPrefix}, term...) }

// Segment is a sorted run of terms, in the leaves First to Last.
type Segment struct {
	ID, First, Last int64
	// Tombstones is the number of pages with rowids deleted from the segment.
	Tombstones int64
}

// Leaf returns the row of a leaf.
func (s Segment) Leaf(no int64) int64 { return s.ID<<segmentShift | no }

// TombstoneRows returns the first and the last row of the pages of deleted rowids.
func (s Segment) TombstoneRows() (first, last int64) {
	first = s.ID<<segmentShift | 1<<tombstoneShift
	return first, first + s.Tombstones - 1
}

// secondVersion marks the structure of an index with contentless_delete.
const secondVersion = "\xff\x00\x00\x01"

// maxSegments is the maximum that FTS5 defines.
const maxSegments = 2000

// Segments decodes the block at StructureRow. Segments are ordered by level and then by
// age, the oldest first.
func Segments(block []byte) ([]Segment, error) {
	if len(block) < 4 {
		return nil, fmt.Errorf("%w: a structure of %d bytes", ErrFormat, len(block))
	}
	r := reader{rest: block[4:]} // after a cookie that changes with the settings
	second := len(r.rest) >= len(secondVersion) && string(r.rest[:len(secondVersion)]) == secondVersion
	if second {
		r.rest = r.rest[len(secondVersion):]
	}
	levels, count := r.next(), r.next()
	r.next() // total number of leaves written
	if levels > maxSegments || count > maxSegments {
		return nil, fmt.Errorf("%w: %d levels of %d segments", ErrFormat, levels, count)
	}
	var out []Segment
	for range levels {
		r.next() // number of segments being merged
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
				continue // empty: an unfinished merge moved all of it
			}
			if r.bad || s.First < 1 || s.Last < s.First || s.Last >= 1<<31 || s.ID < 1 || s.ID >= 1<<16 || s.Tombstones > 1<<31 {
				return nil, fmt.Errorf("%w: segment %+v", ErrFormat, s)
			}
			out = append(out, s)
		}
	}
	if r.bad || count != 0 || len(r.rest) > 0 {
		return nil, fmt.Errorf("%w: %d segments, %d missing or surplus", ErrFormat, len(out), count)
	}
	return out, nil
}

// AppendTombstones appends the rowids on a page of deleted rowids to dst.
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

// reader reads varints. If one is incomplete, it returns 0 and sets bad.
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

// varint decodes a varint of SQLite and returns its size: seven bits per byte, the highest
// first, and eight in the ninth byte. n is 0 if b is too short.
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
