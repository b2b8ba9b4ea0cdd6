package sessionlog

import (
	"errors"
	"io"

	"github.com/cespare/xxhash/v2"
)

// windowSize is how many bytes of a source's head and tail are fingerprinted.
const windowSize = 4096

// Source says where appended bytes come from.
type Source struct {
	Inode uint64 // of the source file when it was read, 0 if unknown
}

// Position is how far a log has come, with what is needed to recognise its
// source: the fingerprints describe the bytes as they were appended.
type Position struct {
	Raw   int64  // bytes of the source that are in the log
	Lines int    // newlines among them
	Head  uint64 // xxh64 of the first HeadLen bytes
	Tail  uint64 // xxh64 of the last TailLen bytes
	// HeadLen and TailLen are min(4096, Raw). They are less only when bytes that
	// the fingerprint would need were deleted. Both 0 with Raw > 0 means
	// min(4096, Raw), so that a stored position needs not hold them.
	HeadLen, TailLen int
	Inode            uint64 // Source.Inode of the last append
}

func (r record) position() Position {
	return Position{
		Raw: r.rawEnd, Lines: int(r.lines), Inode: r.inode,
		Head: r.head, Tail: r.tail, HeadLen: r.headLen, TailLen: r.tailLen,
	}
}

// Match is what Compare finds.
type Match int

// The answers of Compare.
const (
	Unreadable Match = iota // the source could not be read, nothing is known
	Same                    // nothing was added
	Grown                   // the source holds what the log holds, and more
	Rewritten               // shorter, or other bytes than those in the log
)

// String returns the answer in lower case.
func (m Match) String() string {
	switch m {
	case Same:
		return "same"
	case Grown:
		return "grown"
	case Rewritten:
		return "rewritten"
	}
	return "unreadable"
}

// Compare says whether src, size bytes long, still begins with what a log held
// at pos. It reads two windows of at most 4096 bytes, so a change between them
// goes unseen; the caller compares inodes besides. A source that ends before
// size is Rewritten, another read error gives Unreadable.
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
