package sessionlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
)

// chain reads the records of a log backwards, from footer to footer. Offsets are file
// offsets in bytes.
type chain struct {
	r     io.ReaderAt
	start int64 // file offset after the header
}

// errDamaged is the error for invalid bytes in a log. readError converts it to an
// archive.Error.
type errDamaged struct {
	off  int64  // file offset, negative if what says it
	what string // the damage, such as "a damaged frame"
}

func (e *errDamaged) Error() string {
	if e.off < 0 {
		return e.what
	}
	return fmt.Sprintf("%s at byte %d of the file", e.what, e.off)
}

// at returns the record whose footer is at off. The error is an errDamaged without a
// valid footer.
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
		return record{}, &errDamaged{off, "a damaged footer"}
	}
	return r, nil
}

// prev returns the record before r, or the root if r is the first.
func (c chain) prev(r record) (record, error) {
	p, err := rootRecord(c.start), error(nil)
	if r.bodyOff() != c.start {
		p, err = c.at(r.bodyOff() - footerSize)
	}
	if err == nil && !r.follows(p) {
		err = &errDamaged{r.off, "a record that does not continue its predecessor"}
	}
	return p, err
}

// jumpOf returns the record at r's jump pointer, or the root if r has none.
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

// nextJump returns the jump pointer for a record that is appended after last: the offset
// and the depth of its target, 0 and 0 for the root. If last's jump and its target's jump
// have equal lengths, the new jump covers both and the step to last. Every earlier record
// can therefore be reached in a logarithmic number of reads (Myers, An applicative
// random-access stack).
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

// seek returns the earliest record whose end satisfies past; r is the last candidate. past
// must be monotonic: false for (0, 0), true for the end of r, and true for every end after
// one for which it is true.
func (c chain) seek(r record, past func(rawEnd, lines int64) bool) (record, error) {
	for past(r.rawStart(), r.lineStart()) {
		if r.jump != 0 {
			j, err := c.jumpOf(r)
			if err != nil {
				return record{}, err
			}
			if past(j.rawEnd, j.lines) {
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

// body reads the body of r. The error is an errDamaged unless the body is one frame and
// matches the footer's checksum.
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

// isComplete reports whether all records up to r are intact that are of the last writes,
// as many as given, or after the file offset from. A file system may keep a footer and lose
// the body before it, and a process may die between a write and its fsync.
func (c chain) isComplete(r record, from int64, writes int) (bool, error) {
	for base := r.base; writes > 0 || r.bodyOff() > from; {
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
		if r.bodyOff() <= base { // the first of its write
			writes, base = writes-1, p.base
		}
		r = p
	}
	return true, nil
}

// unlessDamaged returns err, or nil if it is an errDamaged. Damage can mark the end of a
// log; a read error cannot.
func unlessDamaged(err error) error {
	if _, damaged := errors.AsType[*errDamaged](err); damaged {
		return nil
	}
	return err
}

// end returns the last record with a valid footer, or the root if there is none. size is
// the file's size in bytes.
func (c chain) end(size int64) (record, error) {
	r, err := c.at(size - footerSize)
	if err == nil {
		return r, nil
	}
	if err := unlessDamaged(err); err != nil {
		return record{}, err
	}
	r, found, err := c.scanBack(size)
	if err != nil || found {
		return r, err
	}
	return rootRecord(c.start), nil
}

// footerMagic returns the first bytes of every footer.
func footerMagic() []byte { return appendFooter(nil, record{})[:8+len(footerTag)] }

// scanBack searches the first size bytes of the file backwards for the last valid footer.
// It returns its record, and whether there is one.
func (c chain) scanBack(size int64) (record, bool, error) {
	magic := footerMagic()
	const block = 64 << 10
	overlap := int64(len(magic) - 1)
	buf := make([]byte, block+overlap)
	for hi := size; hi > c.start; {
		lo := max(hi-block, c.start)
		b := buf[:min(hi+overlap, size)-lo] // the magic may begin before hi and end after it
		n, err := c.r.ReadAt(b, lo)
		if err != nil && !errors.Is(err, io.EOF) {
			return record{}, false, err
		}
		b = b[:n] // fewer bytes if a writer truncates the file meanwhile
		for i := bytes.LastIndex(b, magic); i >= 0; i = bytes.LastIndex(b, magic) {
			r, err := c.at(lo + int64(i))
			if unlessDamaged(err) != nil || err == nil {
				return r, err == nil, err
			}
			b = b[:i+len(magic)-1]
		}
		hi = lo
	}
	return record{}, false, nil
}

// hasRecord reports whether there is a valid footer after start. It also returns true for
// a file that cannot be read, so that no caller treats it as empty.
func (c chain) hasRecord(size int64) bool {
	_, found, err := c.scanBack(size)
	return found || err != nil
}
