package sessionlog

import (
	"errors"
	"io"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// load makes the record with the raw byte at off the current record.
func (r *Reader) load(off int64) error {
	if r.cur.depth > 0 && off >= r.cur.rawStart() && off < r.cur.rawEnd {
		return nil
	}
	for {
		rec, body, err := r.find(off)
		switch {
		case err == nil && rec.kind == kindHole:
			r.fill(rec)
		case err == nil:
			err = r.use(rec, body)
		}
		if again, serr := r.surveyAfter(err); !again || serr != nil {
			return serr
		}
	}
}

// find returns the record with the raw byte at off, and its body. Sequential reading
// needs no search.
func (r *Reader) find(off int64) (record, []byte, error) {
	if r.surveyed {
		return r.lookup(off)
	}
	from := r.cur
	if off == 0 {
		from = rootRecord(r.start)
	}
	if off == from.rawEnd && (from.depth > 0 || off == 0) {
		return r.next(from)
	}
	rec, err := r.seek(r.last, func(rawEnd, _ int64) bool { return rawEnd > off })
	if err != nil {
		return record{}, nil, err
	}
	body, err := r.body(rec)
	return rec, body, err
}

// next returns the first data record after rec, and its body, which is valid until the
// next call. The body's checksum is not checked.
func (r *Reader) next(rec record) (record, []byte, error) {
	for rec.off < r.last.off {
		nxt, body, err := r.step(rec)
		if err != nil || nxt.kind == kindData {
			return nxt, body, err
		}
		rec = nxt
	}
	return record{}, nil, &errDamaged{rec.end(), "a missing frame"}
}

// step returns the record directly after rec.
func (r *Reader) step(rec record) (record, []byte, error) {
	body, foot, err := r.ahead.record(rec.end())
	if err != nil {
		return record{}, nil, err
	}
	nxt, ok := parseFooter(foot, rec.end()+int64(len(body)))
	if !ok || !nxt.follows(rec) || nxt.off > r.last.off {
		return record{}, nil, &errDamaged{rec.end(), "a damaged record"}
	}
	return nxt, body, nil
}

// use decompresses a data record's body and makes it the current record.
func (r *Reader) use(rec record, body []byte) error {
	r.cur = record{} // raw is about to be overwritten
	raw, err := r.decode(rec, body)
	if err != nil {
		return err
	}
	r.raw = raw
	blank(raw, rec.rawStart(), r.hidden)
	r.cur = rec
	return nil
}

// decode returns the stored bytes of a data record. The reader has one buffer for them.
func (r *Reader) decode(rec record, body []byte) ([]byte, error) {
	dec, err := r.decoder()
	if err != nil {
		return nil, err
	}
	if int64(len(r.buf)) < rec.rawLen {
		r.buf = make([]byte, rec.rawLen)
	}
	raw, err := dec.DecodeAll(body, r.buf[:0:rec.rawLen])
	if err != nil || int64(len(raw)) != rec.rawLen || xxhash.Sum64(raw) != rec.rawSum {
		return nil, &errDamaged{rec.bodyOff(), "a frame with a wrong checksum"}
	}
	return raw, nil
}

func (r *Reader) decoder() (_ *zstd.Decoder, err error) {
	if r.dec == nil {
		r.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxFrame), zstd.WithDecodeAllCapLimit(true))
	}
	return r.dec, err
}

// readAhead reads a file forwards in blocks.
type readAhead struct {
	r    io.ReaderAt
	off  int64 // file offset of buf
	buf  []byte
	fill int // bytes per read; it grows with the frames
}

// record returns the body at off and the bytes of its footer. Both are valid until the
// next call.
func (a *readAhead) record(off int64) (body, foot []byte, err error) {
	a.fill = max(a.fill, 64<<10)
	var b []byte // the buffered bytes from off
	if off >= a.off && off < a.off+int64(len(a.buf)) {
		b = a.buf[off-a.off:]
	}
	for {
		n, err := frameLen(b)
		if err == nil && len(b) >= n+footerSize {
			return b[:n:n], b[n : n+footerSize], nil
		}
		if errors.Is(err, errFrame) {
			return nil, nil, &errDamaged{off, "a damaged frame"}
		}
		had := len(b)
		if had >= a.fill {
			a.fill *= 2
		}
		if b, err = a.read(off); err != nil {
			return nil, nil, err
		}
		if len(b) <= had {
			return nil, nil, &errDamaged{off, "an unfinished record"}
		}
	}
}

// read returns up to fill bytes from off, fewer at the end of the file.
func (a *readAhead) read(off int64) ([]byte, error) {
	if cap(a.buf) < a.fill {
		a.buf = make([]byte, a.fill)
	}
	n, err := a.r.ReadAt(a.buf[:a.fill], off)
	a.off, a.buf = off, a.buf[:n]
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return a.buf, nil
}

// tailBlock holds the last bytes of a file, so that reading its end needs one read.
type tailBlock struct {
	r   io.ReaderAt
	off int64
	b   []byte
}

const tailBlockSize = 32 << 10

// newTailBlock reads the last bytes, at most so many, of a file of the given size. ReadAt
// reads bytes that are missing here.
func newTailBlock(r io.ReaderAt, size, most int64) *tailBlock {
	t := &tailBlock{r: r, off: max(0, size-most)}
	b := make([]byte, size-t.off)
	n, _ := r.ReadAt(b, t.off)
	t.b = b[:n]
	return t
}

// ReadAt implements io.ReaderAt.
func (t *tailBlock) ReadAt(p []byte, off int64) (int, error) {
	if off >= t.off && off+int64(len(p)) <= t.off+int64(len(t.b)) {
		return copy(p, t.b[off-t.off:]), nil
	}
	return t.r.ReadAt(p, off)
}

// errFrame is returned for a frame that this package does not write.
var errFrame = errors.New("invalid frame")

// frameLen returns the length of the zstd or skippable frame at the start of b, from its
// block headers. The error is io.ErrUnexpectedEOF if b is too short for the frame.
func frameLen(b []byte) (int, error) {
	var h zstd.Header
	err := h.Decode(b)
	n := int64(h.HeaderSize) + int64(h.SkippableSize)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return 0, io.ErrUnexpectedEOF
	case err != nil || !h.Skippable && (!h.HasCheckSum || h.DictionaryID != 0):
		return 0, errFrame
	}
	for last := h.Skippable; !last; {
		if n+3 > int64(len(b)) {
			return 0, io.ErrUnexpectedEOF
		}
		block := uint32(b[n]) | uint32(b[n+1])<<8 | uint32(b[n+2])<<16
		n += 3
		switch block >> 1 & 3 {
		case 0, 2: // raw or compressed
			n += int64(block >> 3)
		case 1: // one byte, repeated
			n++
		default:
			return 0, errFrame
		}
		if last = block&1 != 0; last {
			n += 4 // checksum
		}
	}
	switch {
	case n > 2*maxFrame:
		return 0, errFrame
	case n > int64(len(b)):
		return 0, io.ErrUnexpectedEOF
	}
	return int(n), nil
}
