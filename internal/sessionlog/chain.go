package sessionlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
)

// chain walks the records of a log. It never changes anything.
type chain struct {
	r     io.ReaderAt
	start int64 // file offset behind the header
}

// errDamaged says that the records of a log do not hang together.
type errDamaged struct {
	off  int64 // file offset
	what string
}

func (e *errDamaged) Error() string { return fmt.Sprintf("%s at byte %d of the file", e.what, e.off) }

// at returns the record whose footer stands at off.
func (c chain) at(off int64) (record, error) {
	var b [footerSize]byte
	if off < c.start {
		return record{}, &errDamaged{off, "a pointer before the first record"}
	}
	if err := readFull(c.r, b[:], off); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return record{}, &errDamaged{off, "an unfinished record"}
		}
		return record{}, err
	}
	r, ok := parseFooter(b[:], off)
	if !ok || r.bodyOff() < c.start {
		return record{}, &errDamaged{off, "a damaged record end"}
	}
	return r, nil
}

// prev returns the record before r, the root before the first.
func (c chain) prev(r record) (record, error) {
	if r.bodyOff() == c.start {
		root := rootRecord(c.start)
		if !r.follows(root) {
			return record{}, &errDamaged{r.off, "a first record that is not the first"}
		}
		return root, nil
	}
	p, err := c.at(r.bodyOff() - footerSize)
	if err != nil {
		return record{}, err
	}
	if !r.follows(p) {
		return record{}, &errDamaged{r.off, "a record that does not follow the one before"}
	}
	return p, nil
}

// jumpOf returns the record that r's jump pointer leads to, or the root.
func (c chain) jumpOf(r record) (record, error) {
	if r.jump == 0 {
		return rootRecord(c.start), nil
	}
	j, err := c.at(r.jump)
	if err != nil {
		return record{}, err
	}
	if j.depth != r.jumpDepth {
		return record{}, &errDamaged{r.off, "a pointer to the wrong record"}
	}
	return j, nil
}

// nextJump returns the jump pointer of the record that will follow last. Two
// jumps of equal length become one of the double length and one step; this
// keeps every way back logarithmic (Myers, An applicative random-access stack).
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

// seek returns the earliest record at whose end ahead holds, walking back from
// r; ahead must hold at the end of r, not at (0, 0), and once it holds also for
// every later end.
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
		p, err := c.prev(r)
		if err != nil {
			return record{}, err
		}
		r = p
	}
	return r, nil
}

// seekOffset returns the record that holds the raw byte at off.
func (c chain) seekOffset(last record, off int64) (record, error) {
	return c.seek(last, func(rawEnd, _ int64) bool { return rawEnd > off })
}

// seekLine returns the record that holds newline number n, counted from 1.
func (c chain) seekLine(last record, n int64) (record, error) {
	return c.seek(last, func(_, lines int64) bool { return lines >= n })
}

// body returns the body of r, checked against its sum and to be one frame.
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

// settled reports whether the log may end with r: whether r and what was
// written with it is whole, and also the write before that, since a process may
// have died between a write and its fsync.
func (c chain) settled(r record) (bool, error) {
	for range 2 {
		for base := r.base; ; {
			_, err := c.body(r)
			if err != nil {
				return false, unlessDamaged(err)
			}
			p, err := c.prev(r)
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

// unlessDamaged drops an errDamaged. A disk that cannot be read must not pass
// for a log that ends early.
func unlessDamaged(err error) error {
	if _, damaged := errors.AsType[*errDamaged](err); damaged {
		return nil
	}
	return err
}

// end returns the last record of a log whose file has the given size, the root
// if there is none.
func (c chain) end(size int64) (record, error) {
	r, err := c.at(size - footerSize)
	if err == nil {
		var ok bool
		if ok, err = c.settled(r); ok {
			return r, nil
		}
	}
	if err := unlessDamaged(err); err != nil {
		return record{}, err
	}
	r, found, err := c.scanBack(size, c.settled)
	if err != nil || found {
		return r, err
	}
	return rootRecord(c.start), nil
}

// scanBack returns the last record of the file that accept takes.
func (c chain) scanBack(size int64, accept func(record) (bool, error)) (record, bool, error) {
	mark := binary.LittleEndian.AppendUint32(nil, magicFooter)
	mark = binary.LittleEndian.AppendUint32(mark, footerSize-8)
	mark = append(mark, footerTag...)
	const block = 64 << 10
	overlap := int64(len(mark) - 1)
	buf := make([]byte, block+overlap)
	for hi := size; hi > c.start; {
		lo := max(hi-block, c.start)
		b := buf[:min(hi+overlap, size)-lo] // a mark may begin before hi and end behind it
		n, err := c.r.ReadAt(b, lo)
		if err != nil && !errors.Is(err, io.EOF) {
			return record{}, false, err
		}
		b = b[:n] // less when the writer is cutting the file back right now
		for {
			i := bytes.LastIndex(b, mark)
			if i < 0 {
				break
			}
			r, err := c.at(lo + int64(i))
			ok := err == nil
			if ok {
				ok, err = accept(r)
			}
			if err = unlessDamaged(err); err != nil || ok {
				return r, ok, err
			}
			b = b[:i+len(mark)-1]
		}
		hi = lo
	}
	return record{}, false, nil
}

// hasRecord reports whether there is a footer of ours behind start. A file that
// cannot be read counts as one that has.
func (c chain) hasRecord(size int64) bool {
	_, found, err := c.scanBack(size, func(record) (bool, error) { return true, nil })
	return found || err != nil
}
