package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
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
		id := int64(binary.BigEndian.Uint32(slots))
		if size == 8 {
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

// Leaf is a block of terms, each followed by the rowids of the rows with the term. The
// rowids of the last term may continue in the next leaves.
type Leaf struct {
	body  []byte // the header, then terms and rowids
	index []byte // the offsets of terms: the first offset, then differences
}

// header is the size of the header: the offsets of the first rowid and of the end of the
// body.
const header = 4

// ParseLeaf decodes a leaf's header. The leaf refers to block.
func ParseLeaf(block []byte) (Leaf, error) {
	if len(block) < header {
		return Leaf{}, fmt.Errorf("%w: a leaf of %d bytes", ErrFormat, len(block))
	}
	end := int(binary.BigEndian.Uint16(block[2:]))
	if end < header || end > len(block) {
		return Leaf{}, fmt.Errorf("%w: a leaf that ends at %d of %d", ErrFormat, end, len(block))
	}
	return Leaf{body: block[:end], index: block[end:]}, nil
}

// Head returns the rowids at the start of the leaf, which belong to the last term of an
// earlier leaf, and whether they continue in the next leaf.
func (l Leaf) Head() (ids Doclist, more bool, err error) {
	if len(l.index) == 0 {
		return Doclist(l.body[header:]), true, nil
	}
	first, n := varint(l.index)
	if n == 0 || first < header || first > int64(len(l.body)) {
		return nil, false, fmt.Errorf("%w: a first term at %d", ErrFormat, first)
	}
	return Doclist(l.body[header:first]), false, nil
}

// Find returns the rowids of a term, nil if it is not in this leaf, and whether they
// continue in the next leaf.
func (l Leaf) Find(key []byte) (ids Doclist, more bool, err error) {
	err = l.Begin(key, func(whole bool, found Doclist, continues bool) bool {
		if whole { // sorts before all longer terms
			ids, more = found, continues
		}
		return false
	})
	return ids, more, err
}

// Begin calls visit for each term that begins with key, in the order of the terms, until
// visit returns false. whole is true if key is the whole term, more if its rowids continue
// in the next leaf.
func (l Leaf) Begin(key []byte, visit func(whole bool, ids Doclist, more bool) bool) error {
	index := reader{rest: l.index}
	at := int64(0)
	match := 0 // length of the common prefix of key and the previous term
	for first := true; len(index.rest) > 0; first = false {
		at += index.next()
		if index.bad || at < header || at >= int64(len(l.body)) {
			return fmt.Errorf("%w: a term at %d of %d", ErrFormat, at, len(l.body))
		}
		r := reader{rest: l.body[at:]}
		kept := int64(0) // bytes shared with the previous term
		if !first {
			kept = r.next()
		}
		size := r.next()
		if r.bad || size < 0 || kept < 0 || size > int64(len(r.rest)) {
			return fmt.Errorf("%w: a term of %d bytes", ErrFormat, size)
		}
		own := r.rest[:size]
		if kept < int64(match) { // this term and all after it sort after key
			return nil
		}
		if kept == int64(match) {
			same := common(own, key[match:])
			match += same
			if match < len(key) && same < len(own) && own[same] > key[match] {
				return nil
			}
		}
		if match < len(key) {
			continue
		}
		ids, more, err := l.doclist(at, int64(len(l.body)-len(r.rest))+size, index)
		if err != nil || !visit(kept+size == int64(len(key)), ids, more) {
			return err
		}
	}
	return nil
}

// doclist returns the rowids from an offset up to the next term.
func (l Leaf) doclist(term, from int64, index reader) (ids Doclist, more bool, err error) {
	end := int64(len(l.body))
	more = len(index.rest) == 0
	if !more {
		end = term + index.next()
	}
	if index.bad || end < from || end > int64(len(l.body)) {
		return nil, false, fmt.Errorf("%w: rowids from %d to %d", ErrFormat, from, end)
	}
	return Doclist(l.body[from:end:end]), more, nil
}

// common returns the length of the common prefix of a and b.
func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Doclist holds the rowids of one term in one leaf: the first, then differences.
type Doclist []byte

// Append appends the rowids in ascending order to dst. A deletion mark in the list is an
// ErrFormat: an index with contentless_delete has none.
func (d Doclist) Append(dst []int64) ([]int64, error) {
	n := 0
	for _, b := range d {
		if b < 0x80 {
			n++ // the last byte of a number
		}
	}
	dst = slices.Grow(dst, n)
	id := int64(0)
	for i := 0; i < len(d); {
		var step int64
		var n int
		switch { // nearly all differences have one or two bytes
		case d[i] < 0x80:
			step, n = int64(d[i]), 1
		case i+1 < len(d) && d[i+1] < 0x80:
			step, n = int64(d[i]&0x7f)<<7|int64(d[i+1]), 2
		default:
			step, n = varint(d[i:])
		}
		if n == 0 || step <= 0 {
			return dst, fmt.Errorf("%w: rowids that end at %d or do not ascend", ErrFormat, id)
		}
		id += step
		i += n
		dst = append(dst, id)
	}
	return dst, nil
}
