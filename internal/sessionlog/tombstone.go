package sessionlog

import (
	"cmp"
	"encoding/binary"
	"slices"
)

const (
	tombstoneTag   = "SLT"
	tombstoneFixed = 8 + 4 + 4 + 4 // frame header, tag and version, flag and zeros, count
	maxSpans       = (maxFrame - tombstoneFixed) / 16

	tombstoneApplied = 1
)

// span is a range of raw bytes, end exclusive.
type span struct{ from, to int64 }

// encodeTombstone returns the tombstone frame for at most maxSpans spans.
func encodeTombstone(spans []span, flags byte) []byte {
	b := make([]byte, 0, tombstoneFixed+16*len(spans))
	b = binary.LittleEndian.AppendUint32(b, magicTombstone)
	b = binary.LittleEndian.AppendUint32(b, uint32(tombstoneFixed-8+16*len(spans)))
	b = append(b, tombstoneTag...)
	b = append(b, Version, flags, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(spans)))
	for _, s := range spans {
		b = binary.LittleEndian.AppendUint64(b, uint64(s.from))
		b = binary.LittleEndian.AppendUint64(b, uint64(s.to))
	}
	return b
}

// applied reports that the data frames hold what stands for a tombstone's spans.
func applied(b []byte) bool { return len(b) > 12 && b[12]&tombstoneApplied != 0 }

// decodeTombstone reads a tombstone frame of a log of raw bytes.
func decodeTombstone(b []byte, raw int64) ([]span, bool) {
	if len(b) < tombstoneFixed || binary.LittleEndian.Uint32(b) != magicTombstone ||
		string(b[8:11]) != tombstoneTag || b[11] != Version ||
		len(b) != tombstoneFixed+16*int(binary.LittleEndian.Uint32(b[16:])) {
		return nil, false
	}
	var spans []span
	for b = b[tombstoneFixed:]; len(b) > 0; b = b[16:] {
		s := span{int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))}
		if s.from < 0 || s.to < s.from || s.to > raw {
			return nil, false
		}
		spans = append(spans, s)
	}
	return spans, true
}

// tombstones returns all spans of the log that ends with last, and those whose
// bytes are in the data frames still; both merged and in order.
func (c chain) tombstones(last record) (spans, hidden []span, err error) {
	for off := last.newestTombstone(); off != 0; {
		t, err := c.at(off)
		if err != nil {
			return nil, nil, err
		}
		b, err := c.body(t)
		if err != nil {
			return nil, nil, err
		}
		s, ok := decodeTombstone(b, t.rawEnd)
		if t.kind != kindTombstone || !ok {
			return nil, nil, &errDamaged{t.bodyOff(), "a damaged tombstone"}
		}
		spans = append(spans, s...)
		if !applied(b) {
			hidden = append(hidden, s...)
		}
		off = t.tombs
	}
	return mergeSpans(spans), mergeSpans(hidden), nil
}

// mergeSpans sorts spans and joins those that touch, in place.
func mergeSpans(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		if s.from < s.to {
			out = append(out, s)
		}
	}
	return out
}

// covered reports whether the merged spans hold all of s.
func covered(spans []span, s span) bool {
	i, found := slices.BinarySearchFunc(spans, s.from, func(t span, from int64) int { return cmp.Compare(t.from, from) })
	if found {
		return spans[i].to >= s.to
	}
	return i > 0 && spans[i-1].to >= s.to
}

// blank overwrites the part of p, which begins at raw offset off, that the
// merged spans cover: spaces, newlines stay.
func blank(p []byte, off int64, spans []span) {
	i, found := slices.BinarySearchFunc(spans, off, func(t span, off int64) int { return cmp.Compare(t.from, off) })
	if !found && i > 0 {
		i--
	}
	for end := off + int64(len(p)); i < len(spans) && spans[i].from < end; i++ {
		lo, hi := max(spans[i].from, off), min(spans[i].to, end)
		for j := lo - off; j < hi-off; j++ {
			if p[j] != '\n' {
				p[j] = ' '
			}
		}
	}
}
