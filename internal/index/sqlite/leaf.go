package sqlite

import (
	"encoding/binary"
	"fmt"
	"slices"
)

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
