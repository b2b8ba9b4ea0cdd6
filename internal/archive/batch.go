package archive

import "errors"

// Batch holds the rows that a transcript reader found between two offsets. Every row is
// complete and identified by its place: it replaces the row of an earlier batch, and
// applying a batch twice changes nothing.
type Batch struct {
	// Session holds the facts known after this batch. Its counters and sums are
	// totals of the whole session. An empty Parent leaves the stored one.
	Session     Session
	Turns       []Turn
	Steps       []Step
	Calls       []Call
	Passages    []Passage
	Files       []FileTouch
	Tasks       []TaskEvent
	Compactions []Compaction
	// DeadTurns are the indices of turns that a rewind abandoned.
	DeadTurns []int
	// Keys are identities first seen in this batch.
	Keys []Identity
	// From is the transcript offset at which the batch begins. It must be the
	// session's cursor, because two processes may index one session at once; see
	// ErrStale.
	From int64
	// Cursor is where the next batch starts.
	Cursor Cursor
}

// ErrStale is returned for a batch that does not begin at the session's cursor, because
// another process moved it. The caller should read the cursor and continue from there. A
// batch that ends at or before the cursor was applied already and is not an error.
var ErrStale = errors.New("the session's cursor has moved")

// Identity is the 64-bit hash of the values that identify a row in every copy of it
// (message ID, prompt UUID, prompt ID with content, parent of a prompt), with the place
// where it was seen first. The first owner keeps it.
type Identity struct {
	Key uint64
	Ref Ref
}

// Cursor is the position up to which a session is indexed.
type Cursor struct {
	Session    string
	Generation int
	Offset     int64 // bytes of the transcript; always the start of a line
	Line       int   // complete lines before Offset
	// State is the reader's state, opaque to the store.
	State []byte
}
