package sessionlog

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

const (
	footerSize = 128
	footerTag  = "SLF"

	kindData      = 1
	kindTombstone = 2

	flagSealed = 1

	// maxFrame limits the raw bytes and the body of one record, so that a
	// damaged or hostile file cannot ask for more memory than that.
	maxFrame = 64 << 20
)

// footer follows every body. The package documentation describes the fields.
type footer struct {
	kind, flags      byte
	headLen, tailLen int
	body             int64
	rawLen           int64
	newlines         int64
	rawEnd           int64
	lines            int64
	rawSum, bodySum  uint64
	head, tail       uint64
	inode            uint64
	base, jump       int64
	tombs            int64
	depth, jumpDepth uint32
}

// record is a footer and its position in the file. The root, before the first record,
// has a zero footer and ends at the end of the header.
type record struct {
	footer
	off int64 // file offset of the footer
}

func rootRecord(start int64) record { return record{off: start - footerSize} }

func (r record) bodyOff() int64   { return r.off - r.body }
func (r record) end() int64       { return r.off + footerSize }
func (r record) rawStart() int64  { return r.rawEnd - r.rawLen }
func (r record) lineStart() int64 { return r.lines - r.newlines }

// follows reports whether r can be directly after p.
func (r record) follows(p record) bool {
	return r.bodyOff() == p.end() && r.rawStart() == p.rawEnd && r.lineStart() == p.lines && r.depth == p.depth+1
}

// newestTombstone returns the offset of the newest tombstone's footer, r included.
func (r record) newestTombstone() int64 {
	if r.kind == kindTombstone {
		return r.off
	}
	return r.tombs
}

// appendFooter appends the footer of r, whose file offset is r.off.
func appendFooter(b []byte, r record) []byte {
	le := binary.LittleEndian
	at := len(b)
	b = le.AppendUint32(b, magicFooter)
	b = le.AppendUint32(b, footerSize-8)
	b = append(b, footerTag...)
	b = append(b, Version, r.kind, r.flags)
	b = le.AppendUint16(b, uint16(r.headLen))
	b = le.AppendUint16(b, uint16(r.tailLen))
	b = le.AppendUint16(b, 0)
	b = le.AppendUint32(b, uint32(r.body))
	b = le.AppendUint32(b, uint32(r.rawLen))
	b = le.AppendUint32(b, uint32(r.newlines))
	for _, v := range [...]uint64{
		uint64(r.rawEnd), uint64(r.lines), r.rawSum, r.bodySum, r.head, r.tail,
		r.inode, uint64(r.base), uint64(r.jump), uint64(r.tombs),
	} {
		b = le.AppendUint64(b, v)
	}
	b = le.AppendUint32(b, r.depth)
	b = le.AppendUint32(b, r.jumpDepth)
	b = le.AppendUint64(b, uint64(r.off))
	le.PutUint64(b[at+120:], xxhash.Sum64(b[at:]))
	return b
}

// parseFooter parses the footer in b, whose file offset is off.
func parseFooter(b []byte, off int64) (record, bool) {
	le := binary.LittleEndian
	if len(b) < footerSize || le.Uint32(b) != magicFooter || le.Uint32(b[4:]) != footerSize-8 ||
		string(b[8:11]) != footerTag || b[11] != Version {
		return record{}, false
	}
	var keyed [footerSize]byte
	copy(keyed[:], b[:120])
	le.PutUint64(keyed[120:], uint64(off))
	if xxhash.Sum64(keyed[:]) != le.Uint64(b[120:]) {
		return record{}, false
	}
	r := record{off: off, footer: footer{
		kind: b[12], flags: b[13],
		headLen:   int(le.Uint16(b[14:])),
		tailLen:   int(le.Uint16(b[16:])),
		body:      int64(le.Uint32(b[20:])),
		rawLen:    int64(le.Uint32(b[24:])),
		newlines:  int64(le.Uint32(b[28:])),
		rawEnd:    int64(le.Uint64(b[32:])),
		lines:     int64(le.Uint64(b[40:])),
		rawSum:    le.Uint64(b[48:]),
		bodySum:   le.Uint64(b[56:]),
		head:      le.Uint64(b[64:]),
		tail:      le.Uint64(b[72:]),
		inode:     le.Uint64(b[80:]),
		base:      int64(le.Uint64(b[88:])),
		jump:      int64(le.Uint64(b[96:])),
		tombs:     int64(le.Uint64(b[104:])),
		depth:     le.Uint32(b[112:]),
		jumpDepth: le.Uint32(b[116:]),
	}}
	return r, r.valid()
}

// valid rejects values that no writer produces, so that arithmetic cannot overflow and
// every pointer leads backwards.
func (r record) valid() bool {
	within := func(v, limit int64) bool { return v >= 0 && v <= limit }
	return (r.kind == kindData && r.rawLen > 0 || r.kind == kindTombstone && r.rawLen == 0) &&
		r.headLen <= windowSize && r.tailLen <= windowSize &&
		within(r.rawLen, maxFrame) && r.body > 0 && within(r.body, min(r.off, 2*maxFrame)) &&
		within(r.newlines, r.rawLen) && r.rawEnd >= r.rawLen && within(r.lines, r.rawEnd) && r.lines >= r.newlines &&
		within(r.base, r.off) && within(r.jump, r.off-1) && within(r.tombs, r.off-1) && r.jumpDepth < r.depth
}
