package sessionlog

import (
	"bytes"
	"errors"
	"io"

	"github.com/cespare/xxhash/v2"
)

// windowSize is the number of bytes in the fingerprints of a source's head and tail.
const windowSize = 4096

// Position is the end of a log, with fingerprints to recognize its source. They describe
// the bytes as they were appended.
type Position struct {
	Raw   int64  // logged bytes of the source
	Lines int    // newlines among them
	Head  uint64 // xxh64 of the first HeadLen bytes
	Tail  uint64 // xxh64 of the last TailLen bytes
	// HeadLen and TailLen are min(4096, Raw), or less if some of these bytes were
	// deleted. Both 0 with Raw > 0 means min(4096, Raw), so that a stored position
	// may omit them.
	HeadLen, TailLen int
	Inode            uint64 // of the source at the last append, 0 if unknown
}

func (r record) position() Position {
	return Position{Raw: r.rawEnd, Lines: int(r.lines), Inode: r.inode, Head: r.head, Tail: r.tail, HeadLen: r.headLen, TailLen: r.tailLen}
}

// Match is the result of Compare.
type Match int

// The results of Compare.
const (
	Unreadable Match = iota // the source cannot be read
	Same                    // the source has no new bytes
	Grown                   // the source has new bytes after the logged ones
	Rewritten               // the source is shorter than the log or has other bytes
)

// Compare reports whether src, size bytes long, still begins with the bytes logged up to
// pos. It reads two windows of at most 4096 bytes, so it misses a change between them;
// the caller compares inodes as well. A source that ends before size is Rewritten;
// another read error gives Unreadable.
func Compare(src io.ReaderAt, size int64, pos Position) Match {
	if size < pos.Raw {
		return Rewritten
	}
	head, tail := pos.HeadLen, pos.TailLen
	if head == 0 && tail == 0 {
		head = int(min(windowSize, pos.Raw))
		tail = head
	}
	for _, w := range [...]struct {
		off, n int64
		sum    uint64
	}{{0, int64(head), pos.Head}, {pos.Raw - int64(tail), int64(tail), pos.Tail}} {
		if w.n == 0 {
			continue
		}
		b := make([]byte, w.n)
		switch err := readFull(src, b, w.off); {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return Rewritten
		case err != nil:
			return Unreadable
		case xxhash.Sum64(b) != w.sum:
			return Rewritten
		}
	}
	if size > pos.Raw {
		return Grown
	}
	return Same
}

// fingerprints holds the first and last bytes of the source while bytes are appended.
type fingerprints struct {
	head []byte // the head while it grows; nil when its checksum is final
	tail []byte // the known last bytes of the source
}

// loadFingerprints reads the head and tail from a log. It excludes bytes that differ from
// the source (see unread); the tail grows again from there.
func loadFingerprints(r *Reader) (*fingerprints, error) {
	raw := r.last.rawEnd
	if raw == 0 {
		return &fingerprints{head: []byte{}}, nil
	}
	start := max(0, raw-windowSize)
	tail := make([]byte, raw-start)
	if n, err := r.readAt(tail, start); n < len(tail) {
		return nil, err
	}
	from := start
	for _, t := range r.unread() {
		if t.from < raw && t.to > from {
			from = min(t.to, raw)
		}
	}
	tail = tail[from-start:]
	w := &fingerprints{tail: tail}
	if from == 0 && raw < windowSize && int64(r.last.headLen) == raw {
		w.head = bytes.Clone(tail)
	}
	return w, nil
}

// add appends p to the head and tail and sets their checksums in f.
func (w *fingerprints) add(p []byte, f *footer) {
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
