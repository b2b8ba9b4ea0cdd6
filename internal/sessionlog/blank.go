package sessionlog

import (
	"context"
	"fmt"
	"slices"

	"strandline/internal/archive"
)

// Blank makes readers give spaces for the bytes of these lines, counted from 0;
// their newlines, all offsets and line numbers stay. The bytes themselves are
// gone from the file after the next Seal. The unfinished last line counts as a
// line: what is appended to it later is not blanked. Blanking what is blank
// already changes nothing, a line that is not in the log is CodeNotFound.
func (l *Log) Blank(ctx context.Context, lines ...int) error {
	if len(lines) == 0 {
		return nil
	}
	return l.transact(ctx, func() error {
		v, err := l.view()
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
		run := 1 // neighbours need one look-up together
		for run < len(lines) && lines[run] == lines[run-1]+1 {
			run++
		}
		first, last := lines[0], lines[run-1]
		from, err := r.OffsetOfLine(ctx, first)
		if err != nil {
			return nil, err
		}
		to := r.last.rawEnd
		if int64(last) < r.last.lines {
			if to, err = r.OffsetOfLine(ctx, last+1); err != nil {
				return nil, err
			}
		} else if start, err := r.OffsetOfLine(ctx, last); err != nil {
			return nil, err
		} else if start == to {
			return nil, archive.NotFound(fmt.Sprintf("line %d is not in the log, which has %d lines", last, r.last.lines), "lines count from 0")
		}
		spans = append(spans, span{from, to})
		lines = lines[run:]
	}
	return spans, nil
}

// addTombstones adds tombstone records for the spans.
func (l *Log) addTombstones(spans []span, flags byte) error {
	for part := range slices.Chunk(spans, maxSpans) {
		r, err := l.draft(kindTombstone)
		if err != nil {
			return err
		}
		at := len(l.pend.buf)
		l.commit(r, append(l.pend.buf, encodeTombstone(part, flags)...), at)
		l.edges = nil // the windows may not cover what is blank
	}
	return nil
}
