package sessionlog

import (
	"context"
	"maps"
	"slices"

	"strandline/internal/archive"
)

// Rewrite puts other texts in the place of lines, counted from 0, for good: what
// stood there is gone from the file. A text that is shorter than its line is
// followed by spaces, so that all offsets and line numbers stay; "" leaves nothing
// but spaces. The log goes on recognising its source by what that held. It is done
// in one step, like Seal. A text that does not fit, or holds a newline, is
// CodeInvalid, a line that is not in the log CodeNotFound.
func Rewrite(ctx context.Context, path string, lines map[int]string) (SealReport, error) {
	return rewriteLog(ctx, path, lines)
}

// patch is a text that takes the place of a span.
type patch struct {
	span
	text string
}

// patches are the places of lines and their texts, in order.
func (r *Reader) patches(ctx context.Context, lines map[int]string) ([]patch, error) {
	var out []patch
	for _, n := range slices.Sorted(maps.Keys(lines)) {
		spans, err := r.spansOf(ctx, []int{n})
		if err != nil {
			return nil, err
		}
		p := patch{spans[0], lines[n]}
		room := p.to - p.from
		if int64(n) < r.last.lines {
			room-- // its newline
		}
		if int64(len(p.text)) > room || slices.Contains([]byte(p.text), '\n') {
			return nil, archive.Invalid("a text that does not fit into its line", "")
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
