package sessionlog

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"sort"

	"strandline/internal/archive"
)

const (
	tombstoneTag   = "SLT"
	tombstoneFixed = 8 + 4 + 4 + 4 // frame header, tag and version, flag and zeros, count
	maxSpans       = (maxFrame - tombstoneFixed) / 16

	tombstoneApplied = 1 // the data frames have spaces
	tombstoneLost    = 2 // the bytes were unreadable when the log was rewritten
)

// span is a range of raw bytes, end exclusive.
type span struct{ from, to int64 }

// encodeTombstone returns the tombstone frame of at most maxSpans spans.
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

// decodeTombstone reads a tombstone frame of a log with the given number of raw bytes.
func decodeTombstone(b []byte, raw int64) ([]span, bool) {
	if len(b) < tombstoneFixed || binary.LittleEndian.Uint32(b) != magicTombstone || string(b[8:11]) != tombstoneTag || b[11] != Version ||
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

// tombs are the spans of a log's tombstones, merged and sorted.
type tombs struct {
	blanks []span // deleted or replaced bytes
	hidden []span // those of blanks that are still in the data frames
	lost   []span // bytes that were unreadable when the log was rewritten
}

// add adds the spans of a tombstone with these flags.
func (t *tombs) add(spans []span, flags byte) {
	if flags&tombstoneLost != 0 {
		t.lost = mergeSpans(append(t.lost, spans...))
		return
	}
	t.blanks = mergeSpans(append(t.blanks, spans...))
	if flags&tombstoneApplied == 0 {
		t.hidden = mergeSpans(append(t.hidden, spans...))
	}
}

// tombstones returns the spans of the log that ends with last.
func (c chain) tombstones(last record) (out tombs, err error) {
	for off := last.newestTombstone(); off != 0; {
		t, err := c.at(off)
		if err != nil {
			return out, err
		}
		b, err := c.body(t)
		if err != nil {
			return out, err
		}
		s, ok := decodeTombstone(b, t.rawEnd)
		if t.kind != kindTombstone || !ok {
			return out, &errDamaged{t.bodyOff(), "a damaged tombstone"}
		}
		out.add(s, b[12])
		off = t.tombs
	}
	return out, nil
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

// covered reports whether the merged spans cover all of s.
func covered(spans []span, s span) bool {
	return slices.ContainsFunc(spans, func(t span) bool { return t.from <= s.from && t.to >= s.to })
}

// blank overwrites the part of p, which begins at raw offset off, that the merged spans
// cover, with spaces. It keeps newlines.
func blank(p []byte, off int64, spans []span) {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].to > off })
	for end := off + int64(len(p)); i < len(spans) && spans[i].from < end; i++ {
		lo, hi := max(spans[i].from, off), min(spans[i].to, end)
		for j := lo - off; j < hi-off; j++ {
			if p[j] != '\n' {
				p[j] = ' '
			}
		}
	}
}

// Blank replaces the bytes of these lines, counted from 0, by spaces for readers.
// Newlines, offsets and line numbers do not change. The next Seal removes the bytes from
// the file. An unfinished last line counts as a line; bytes appended to it later are not
// blanked. Blanking a blank line changes nothing; a missing line is CodeNotFound.
func (l *Log) Blank(ctx context.Context, lines ...int) error {
	if len(lines) == 0 {
		return nil
	}
	return l.transact(ctx, func() error {
		v, err := l.reader()
		if err != nil {
			return err
		}
		defer v.Close()
		spans, err := v.spansOf(ctx, lines)
		if err != nil {
			return err
		}
		spans = slices.DeleteFunc(spans, func(s span) bool { return covered(v.blanks, s) })
		return l.addTombstones(spans, 0)
	})
}

// spansOf returns the raw bytes of the lines.
func (r *Reader) spansOf(ctx context.Context, lines []int) ([]span, error) {
	lines = slices.Clone(lines)
	slices.Sort(lines)
	lines = slices.Compact(lines)
	var spans []span
	for len(lines) > 0 {
		run := 1 // adjacent lines need one lookup
		for run < len(lines) && lines[run] == lines[run-1]+1 {
			run++
		}
		first, last := lines[0], lines[run-1]
		from, to, err := r.Range(ctx, first, last+1)
		if err == nil && int64(last) >= r.last.lines { // an unfinished line, if it exists
			var start int64
			if start, err = r.OffsetOfLine(ctx, last); err == nil && start == to {
				err = r.missingLine(last)
			}
		}
		if err != nil {
			return nil, err
		}
		spans = append(spans, span{from, to})
		lines = lines[run:]
	}
	return spans, nil
}

// addTombstones adds tombstone records for the spans.
func (l *Log) addTombstones(spans []span, flags byte) error {
	for part := range slices.Chunk(spans, maxSpans) {
		r, err := l.nextRecord(kindTombstone)
		if err != nil {
			return err
		}
		at := len(l.pend.buf)
		l.commit(r, append(l.pend.buf, encodeTombstone(part, flags)...), at)
		l.prints = nil // the fingerprints must not cover blank bytes
	}
	return nil
}

// patch is the replacement of a span.
type patch struct {
	span
	text string
}

// patches returns the spans of lines and their replacements, in order.
func (r *Reader) patches(ctx context.Context, lines map[int]string) ([]patch, error) {
	var out []patch
	for _, n := range slices.Sorted(maps.Keys(lines)) {
		spans, err := r.spansOf(ctx, []int{n})
		if err != nil {
			return nil, err
		}
		p := patch{spans[0], lines[n]}
		size := p.to - p.from
		if int64(n) < r.last.lines {
			size-- // its newline
		}
		if int64(len(p.text)) > size || slices.Contains([]byte(p.text), '\n') {
			return nil, archive.Invalid("the replacement does not fit into its line", "")
		}
		out = append(out, p)
	}
	return out, nil
}

// apply writes patches over p, which begins at raw offset off.
func apply(patches []patch, p []byte, off int64) {
	end := off + int64(len(p))
	for _, x := range patches {
		if x.to <= off || x.from >= end {
			continue
		}
		blank(p, off, []span{x.span})
		for i := range len(x.text) {
			if at := x.from + int64(i); at >= off && at < end {
				p[at-off] = x.text[i]
			}
		}
	}
}
