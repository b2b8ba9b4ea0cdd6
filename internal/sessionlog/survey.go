package sessionlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"strandline/internal/archive"
)

// Hole is a damaged part of a log.
type Hole struct {
	// Off and Len are the damaged bytes of the file. Both are 0 for bytes that were
	// missing already when the log was last rewritten.
	Off, Len int64
	// Raw and RawLen are the source's bytes that cannot be read. RawLen is 0 if the
	// damage is in the log's own data only, or if it is unknown (see End).
	Raw, RawLen int64
	// End: the log's end is damaged, and how many of the source's bytes it held is
	// unknown.
	End bool

	sum  uint64 // of the source's bytes
	sure bool   // sum is known
}

func (h Hole) String() string {
	file := fmt.Sprintf("bytes %d to %d of the file", h.Off, h.Off+h.Len)
	switch {
	case h.End:
		return fmt.Sprintf("what follows byte %d cannot be read (%s)", h.Raw, file)
	case h.RawLen == 0:
		return "nothing is lost, but " + file + " are damaged"
	case h.Len == 0:
		return fmt.Sprintf("%d bytes of the transcript from byte %d on are lost", h.RawLen, h.Raw)
	}
	return fmt.Sprintf("%d bytes of the transcript from byte %d on cannot be read (%s)", h.RawLen, h.Raw, file)
}

// damaged returns a CodeCorrupt error that describes the holes, or nil.
func damaged(path string, holes []Hole) error {
	if len(holes) == 0 {
		return nil
	}
	what := holes[0].String()
	if n := len(holes); n > 1 {
		what += fmt.Sprintf("; %d damaged places in all", n)
	}
	return readError(path, &errDamaged{-1, what})
}

// kindHole is the kind of a record in memory whose raw bytes cannot be read. In their
// place readers get spaces and, at the end, the known number of newlines, so that
// offsets and line numbers after the hole do not change.
const kindHole = 0xff

// holePiece is the most filler that is made at a time.
const holePiece = 1 << 20

// survey reads the whole file and lists the records of a damaged log, holes included.
// A record without a valid footer is used if its frame is intact. A survey is made
// once, when the first damage is met.
func (r *Reader) survey() error {
	if r.surveyed {
		return nil
	}
	s := surveyor{Reader: r, prev: rootRecord(r.start)}
	for s.prev.end() < r.size {
		rec, body, err := r.step(s.prev)
		if err == nil && xxhash.Sum64(body) == rec.bodySum {
			s.take(rec, body)
			continue
		}
		if err = unlessDamaged(err); err != nil {
			return err
		}
		rec, found, err := r.scanForward(s.prev)
		if err != nil {
			return err
		}
		if err := s.salvage(rec, found); err != nil {
			return err
		}
		if !found {
			break
		}
		body, err = r.body(rec)
		if err = unlessDamaged(err); err != nil {
			return err
		}
		s.take(rec, body)
	}
	r.surveyed, r.recs, r.torn, r.tombs = true, s.recs, r.size-s.prev.end(), s.buried
	if r.torn > 0 {
		b := make([]byte, r.torn)
		if err := readFull(r.r, b, s.prev.end()); err != nil {
			return err
		}
		if worthKeeping(b) {
			s.holes = append(s.holes, Hole{Off: s.prev.end(), Len: r.torn, Raw: s.prev.rawEnd, End: true})
		}
	}
	r.holes = append(s.holes, s.buried.holes()...)
	if r.last.rawEnd != s.prev.rawEnd || r.last.off < s.prev.off {
		return r.extend(s.prev)
	}
	return nil
}

// extend makes last, which was found without its footer, the end of the log.
func (r *Reader) extend(last record) error {
	before := r.last
	r.last = last
	raw := make([]byte, last.rawEnd-before.rawEnd)
	if n, err := r.readAt(raw, before.rawEnd); n < len(raw) {
		return err
	}
	end := r.last
	r.last = before
	prints, err := loadFingerprints(r)
	if err != nil {
		return err
	}
	r.last = end
	r.last.head, r.last.headLen, r.last.inode = before.head, before.headLen, before.inode
	prints.add(raw, &r.last.footer)
	return nil
}

// surveyor is the state of a survey.
type surveyor struct {
	*Reader
	prev   record // up to here everything is listed
	recs   []record
	holes  []Hole
	buried tombs
}

// take adds the record after prev. A nil body is a damaged one.
func (s *surveyor) take(rec record, body []byte) {
	s.prev = rec
	if rec.kind == kindTombstone {
		if spans, ok := decodeTombstone(body, rec.rawEnd); ok {
			s.buried.add(spans, body[12])
			return
		}
	} else if body != nil {
		s.recs = append(s.recs, rec)
		return
	}
	h := Hole{Off: rec.bodyOff(), Len: rec.body, Raw: rec.rawStart(), RawLen: rec.rawLen, sum: rec.rawSum, sure: rec.rawLen > 0}
	s.holes = append(s.holes, h)
	if rec.kind = kindHole; rec.rawLen > 0 {
		s.recs = append(s.recs, rec)
	}
}

// salvage adds the frames between prev and the next valid footer whose own footers are
// damaged, and a hole for the rest. Without a next footer, what follows the frames is torn.
func (s *surveyor) salvage(next record, found bool) error {
	end := s.size
	if found {
		end = next.bodyOff()
	}
	for s.prev.end()+footerSize < end && (!found || s.prev.rawEnd <= next.rawStart()) {
		rec, body, err := s.unsigned(s.prev, end)
		if err = unlessDamaged(err); err != nil {
			return err
		}
		if body == nil || found && rec.rawEnd > next.rawStart() {
			break
		}
		s.holes = append(s.holes, Hole{Off: rec.off, Len: footerSize, Raw: rec.rawEnd})
		if !found {
			s.tail = append(s.tail, rec)
		}
		s.take(rec, body)
	}
	if !found || s.prev.end() == end && s.prev.rawEnd == next.rawStart() {
		return nil
	}
	gap := record{off: end - footerSize, footer: footer{
		kind: kindHole, rawLen: next.rawStart() - s.prev.rawEnd, rawEnd: next.rawStart(),
		newlines: next.lineStart() - s.prev.lines, lines: next.lineStart(), depth: next.depth - 1, body: end - s.prev.end(),
	}}
	if gap.newlines > gap.rawLen {
		return &errDamaged{next.off, "a wrong line count"}
	}
	s.holes = append(s.holes, Hole{Off: s.prev.end(), Len: gap.body, Raw: s.prev.rawEnd, RawLen: gap.rawLen})
	if s.prev = gap; gap.rawLen > 0 {
		s.recs = append(s.recs, gap)
	}
	return nil
}

// unsigned reads the record after prev from its body alone, which ends before end. The
// body is nil unless it is an intact frame.
func (r *Reader) unsigned(prev record, end int64) (record, []byte, error) {
	b := make([]byte, min(end-prev.end()-footerSize, maxFrame))
	if err := readFull(r.r, b, prev.end()); err != nil {
		return record{}, nil, err
	}
	n, err := frameLen(b)
	if err != nil {
		return record{}, nil, nil //nolint:nilerr // not a frame
	}
	rec := prev
	rec.kind, rec.body, rec.rawLen, rec.newlines, rec.depth, rec.off = kindTombstone, int64(n), 0, 0, prev.depth+1, prev.end()+int64(n)
	body := b[:n]
	rec.bodySum = xxhash.Sum64(body)
	if _, ok := decodeTombstone(body, prev.rawEnd); ok {
		return rec, body, nil
	}
	dec, err := r.decoder()
	if err != nil {
		return record{}, nil, err
	}
	var h zstd.Header
	if err := h.Decode(body); err != nil || h.FrameContentSize > maxFrame {
		return record{}, nil, nil //nolint:nilerr // no frame
	}
	size := h.FrameContentSize
	if !h.HasFCS { // frames of less than 256 bytes
		size = windowSize
	}
	raw, err := dec.DecodeAll(body, make([]byte, 0, size))
	if err != nil || len(raw) == 0 {
		return record{}, nil, nil //nolint:nilerr // a damaged frame
	}
	rec.kind, rec.rawLen, rec.newlines, rec.rawSum = kindData, int64(len(raw)), int64(bytes.Count(raw, []byte{'\n'})), xxhash.Sum64(raw)
	rec.rawEnd, rec.lines = prev.rawEnd+rec.rawLen, prev.lines+rec.newlines
	return rec, body, nil
}

// scanForward returns the first record after prev that has a valid footer.
func (r *Reader) scanForward(prev record) (record, bool, error) {
	magic := footerMagic()
	buf := make([]byte, 64<<10)
	for lo := prev.end(); lo < r.size; {
		n, err := r.r.ReadAt(buf, lo)
		if err != nil && !errors.Is(err, io.EOF) {
			return record{}, false, err
		}
		b := buf[:min(int64(n), r.size-lo)]
		for at := 0; ; at++ {
			i := bytes.Index(b[at:], magic)
			if i < 0 {
				break
			}
			at += i
			rec, err := r.at(lo + int64(at))
			if err = unlessDamaged(err); err != nil {
				return record{}, false, err
			}
			if rec.depth > prev.depth && rec.bodyOff() >= prev.end() && rec.rawStart() >= prev.rawEnd && rec.lineStart() >= prev.lines {
				return rec, true, nil
			}
		}
		if len(b) < len(magic) {
			break
		}
		lo += int64(len(b) - len(magic) + 1)
	}
	return record{}, false, nil
}

// lookup returns the record of a surveyed log with the raw byte at off. A long hole is
// returned in pieces.
func (r *Reader) lookup(off int64) (record, []byte, error) {
	i, _ := slices.BinarySearchFunc(r.recs, off, func(rec record, off int64) int {
		if rec.rawEnd <= off {
			return -1
		}
		return 1
	})
	if i == len(r.recs) {
		return record{}, nil, &errDamaged{off: r.size, what: "a missing frame"}
	}
	rec := r.recs[i]
	if rec.kind == kindHole {
		return rec.piece(off), nil, nil
	}
	body, err := r.body(rec)
	return rec, body, err
}

// newlineFrom returns the raw offset of a hole's first newline.
func (r record) newlineFrom() int64 { return r.rawEnd - r.newlines }

// piece returns the part of a hole with the raw byte at off.
func (r record) piece(off int64) record {
	from := off - (off-r.rawStart())%holePiece
	to := min(from+holePiece, r.rawEnd)
	after := r.rawEnd - max(to, r.newlineFrom()) // newlines after the piece
	p := r
	p.rawEnd, p.rawLen, p.lines = to, to-from, r.lines-after
	p.newlines = max(0, to-max(from, r.newlineFrom()))
	return p
}

// fill makes the filler of a hole the current record.
func (r *Reader) fill(hole record) {
	if int64(len(r.buf)) < hole.rawLen {
		r.buf = make([]byte, hole.rawLen)
	}
	r.raw = r.buf[:hole.rawLen]
	for i := range r.raw {
		r.raw[i] = ' '
		if int64(i) >= hole.rawLen-hole.newlines {
			r.raw[i] = '\n'
		}
	}
	r.cur = hole
}

// Holes returns the damage that was met so far. Before everything was read it may be
// incomplete.
func (r *Reader) Holes() []Hole {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.allHoles())
}

func (r *Reader) allHoles() []Hole {
	if r.surveyed {
		return r.holes
	}
	return r.tombs.holes()
}

// holes returns the holes that were there when the log was last rewritten.
func (t tombs) holes() []Hole {
	return archive.Convert(t.lost, func(s span) Hole { return Hole{Raw: s.from, RawLen: s.to - s.from} })
}

// Damage returns a CodeCorrupt error if bytes of the source are among Holes, else nil.
func (r *Reader) Damage() error { return lossOf(r.path, r.Holes()) }

// lossOf returns a CodeCorrupt error that describes the holes with bytes of the source.
func lossOf(path string, holes []Hole) error {
	return damaged(path, archive.Select(holes, func(h Hole) bool { return h.RawLen > 0 || h.End }))
}

// unread returns the merged spans in which the log differs from its source: forgotten,
// replaced and unreadable bytes.
func (r *Reader) unread() []span {
	spans := slices.Clone(r.blanks)
	for _, h := range r.allHoles() {
		spans = append(spans, span{h.Raw, h.Raw + h.RawLen})
	}
	return mergeSpans(spans)
}
