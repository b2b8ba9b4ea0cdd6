package sessionlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
)

// chain reads the records of a log.
type chain struct {
	r     io.ReaderAt
	start int64 // file offset after the header
}

// errDamaged reports damaged records.
type errDamaged struct {
	off  int64 // file offset
	what string
}

func (e *errDamaged) Error() string { return fmt.Sprintf("%s at byte %d of the file", e.what, e.off) }

// at returns the record with its footer at off.
func (c chain) at(off int64) (record, error) {
	var b [footerSize]byte
	if off < c.start {
		return record{}, &errDamaged{off, "a pointer before the first record"}
	}
	switch err := readFull(c.r, b[:], off); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return record{}, &errDamaged{off, "an unfinished record"}
	case err != nil:
		return record{}, err
	}
	r, ok := parseFooter(b[:], off)
	if !ok || r.bodyOff() < c.start {
		return record{}, &errDamaged{off, "a damaged record end"}
	}
	return r, nil
}

// prev returns the record before r, or the root before the first.
func (c chain) prev(r record) (record, error) {
	p, err := rootRecord(c.start), error(nil)
	if r.bodyOff() != c.start {
		p, err = c.at(r.bodyOff() - footerSize)
	}
	if err == nil && !r.follows(p) {
		err = &errDamaged{r.off, "a record that does not follow the one before"}
	}
	return p, err
}

// jumpOf returns the record at r's jump pointer, or the root.
func (c chain) jumpOf(r record) (record, error) {
	if r.jump == 0 {
		return rootRecord(c.start), nil
	}
	j, err := c.at(r.jump)
	if err == nil && j.depth != r.jumpDepth {
		err = &errDamaged{r.off, "a pointer to the wrong record"}
	}
	return j, err
}

// nextJump returns the jump pointer of the record after last. Two jumps of equal length
// are combined into one of twice the length and one step, so every path back is
// logarithmic (Myers, An applicative random-access stack).
func (c chain) nextJump(last record) (jump int64, depth uint32, err error) {
	if last.depth == 0 {
		return 0, 0, nil
	}
	j, err := c.jumpOf(last)
	if err != nil {
		return 0, 0, err
	}
	if last.depth-j.depth == j.depth-j.jumpDepth {
		return j.jump, j.jumpDepth, nil
	}
	return last.off, last.depth, nil
}

// seek returns the earliest record for whose end ahead is true, from r back. ahead must
// be true for the end of r and all later ends, and false for (0, 0).
func (c chain) seek(r record, ahead func(rawEnd, lines int64) bool) (record, error) {
	for ahead(r.rawStart(), r.lineStart()) {
		if r.jump != 0 {
			j, err := c.jumpOf(r)
			if err != nil {
				return record{}, err
			}
			if ahead(j.rawEnd, j.lines) {
				r = j
				continue
			}
		}
		var err error
		if r, err = c.prev(r); err != nil {
			return record{}, err
		}
	}
	return r, nil
}

// body returns the body of r. It checks that the body is one frame with the right
// checksum.
func (c chain) body(r record) ([]byte, error) {
	b := make([]byte, r.body)
	err := readFull(c.r, b, r.bodyOff())
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	n, err := frameLen(b)
	if err != nil || int64(n) != r.body || xxhash.Sum64(b) != r.bodySum {
		return nil, &errDamaged{r.bodyOff(), "a damaged frame"}
	}
	return b, nil
}

// isComplete reports whether the log may end with r: r, the other records of its write,
// and those of the write before are intact. The write before is checked because a
// process may die between a write and its fsync.
func (c chain) isComplete(r record) (bool, error) {
	for range 2 {
		for base := r.base; ; {
			_, err := c.body(r)
			p := record{}
			if err == nil {
				p, err = c.prev(r)
			}
			if err != nil {
				return false, unlessDamaged(err)
			}
			if p.depth == 0 {
				return true, nil
			}
			first := r.bodyOff() <= base
			r = p
			if first {
				break
			}
		}
	}
	return true, nil
}

// unlessDamaged returns nil for an errDamaged. Other errors are returned, so that a read
// error is not taken for the end of a log.
func unlessDamaged(err error) error {
	if _, damaged := errors.AsType[*errDamaged](err); damaged {
		return nil
	}
	return err
}

// end returns the last record of a log whose file has the given size, or the root.
func (c chain) end(size int64) (record, error) {
	r, err := c.at(size - footerSize)
	if err == nil {
		var ok bool
		if ok, err = c.isComplete(r); ok {
			return r, nil
		}
	}
	if err := unlessDamaged(err); err != nil {
		return record{}, err
	}
	r, found, err := c.scanBack(size, c.isComplete)
	if err != nil || found {
		return r, err
	}
	return rootRecord(c.start), nil
}

// scanBack returns the last record of the file that accept accepts.
func (c chain) scanBack(size int64, accept func(record) (bool, error)) (record, bool, error) {
	magic := appendFooter(nil, record{})[:8+len(footerTag)]
	const block = 64 << 10
	overlap := int64(len(magic) - 1)
	buf := make([]byte, block+overlap)
	for lo, hi := size, size; hi > c.start; hi = lo {
		lo = max(hi-block, c.start)
		b := buf[:min(hi+overlap, size)-lo] // the magic may begin before hi and end after it
		n, err := c.r.ReadAt(b, lo)
		if err != nil && !errors.Is(err, io.EOF) {
			return record{}, false, err
		}
		b = b[:n] // fewer bytes if a writer truncates the file meanwhile
		for i := bytes.LastIndex(b, magic); i >= 0; i = bytes.LastIndex(b, magic) {
			r, err := c.at(lo + int64(i))
			ok := err == nil
			if ok {
				ok, err = accept(r)
			}
			if err = unlessDamaged(err); err != nil || ok {
				return r, ok, err
			}
			b = b[:i+len(magic)-1]
		}
	}
	return record{}, false, nil
}

// hasRecord reports whether there is a footer after start. It returns true for a file
// that cannot be read.
func (c chain) hasRecord(size int64) bool {
	_, found, err := c.scanBack(size, func(record) (bool, error) { return true, nil })
	return found || err != nil
}
