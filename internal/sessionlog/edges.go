package sessionlog

import (
	"bytes"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
)

// edges follows the head and the tail of what is appended.
type edges struct {
	head []byte // the head while it grows, nil once its sum is final
	tail []byte // the last bytes of the source, as far as they are known
}

// loadEdges reads the windows back from a log. Bytes that a tombstone covers
// are not what the source holds, so the windows keep clear of them; the tail
// grows again from there.
func loadEdges(r *Reader) (edges, error) {
	raw := r.last.rawEnd
	if raw == 0 {
		return edges{head: []byte{}}, nil
	}
	from := max(0, raw-windowSize)
	for _, t := range r.blanks {
		if t.from < raw && t.to > from {
			from = min(t.to, raw)
		}
	}
	tail := make([]byte, raw-from)
	switch n, err := r.ReadAt(tail, from); {
	case archive.ErrorCode(err) == archive.CodeCorrupt:
		return edges{}, nil // damage further back must not stop the log from growing
	case n < len(tail):
		return edges{}, err
	}
	w := edges{tail: tail}
	if from == 0 && raw < windowSize && int64(r.last.headLen) == raw {
		w.head = bytes.Clone(tail)
	}
	return w, nil
}

// add moves the windows over p and notes their sums in f.
func (w *edges) add(p []byte, f *footer) {
	if w.head != nil {
		w.head = append(w.head, p[:min(len(p), windowSize-len(w.head))]...)
		f.head, f.headLen = xxhash.Sum64(w.head), len(w.head)
		if len(w.head) == windowSize {
			w.head = nil
		}
	}
	if len(p) >= windowSize {
		w.tail = append(w.tail[:0], p[len(p)-windowSize:]...)
	} else {
		keep := min(len(w.tail), windowSize-len(p))
		n := copy(w.tail, w.tail[len(w.tail)-keep:])
		w.tail = append(w.tail[:n], p...)
	}
	f.tail, f.tailLen = xxhash.Sum64(w.tail), len(w.tail)
}
