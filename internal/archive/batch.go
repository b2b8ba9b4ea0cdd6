package archive

import "errors"

// Batch is what one pass of a transcript reader found between two offsets.
// Every row is complete and keyed by its place, so applying a batch twice
// changes nothing; a row that an earlier batch held already is replaced.
type Batch struct {
	// Session carries the facts known after this batch. Counters and sums in it
	// are totals of the whole session, not of the batch. An empty Parent leaves
	// the one that an earlier batch named.
	Session     Session
	Turns       []Turn
	Steps       []Step
	Calls       []Call
	Passages    []Passage
	Files       []FileTouch
	Tasks       []TaskEvent
	Compactions []Compaction
	// DeadTurns are indices of turns that a rewind has left behind.
	DeadTurns []int
	// Keys are identities first seen in this batch.
	Keys []Identity
	// From is the transcript offset at which the batch begins. A store refuses a
	// batch that does not begin at the session's cursor, since two processes may
	// index one session at once; see ErrStale.
	From int64
	// Cursor is where the next batch starts.
	Cursor Cursor
}

// ErrStale is returned for a batch that begins elsewhere than the session's
// cursor. Another process was faster: read the cursor again and go on from
// there. A batch that ends at the cursor or before it has been applied already
// and is no error.
var ErrStale = errors.New("the session's cursor has moved")

// Identity is the 64-bit hash of what makes a row the same row wherever it is
// copied to (message id, prompt uuid, prompt id with content, parent of a
// prompt), with the place it was first seen at. The first owner keeps it.
type Identity struct {
	Key uint64
	Ref Ref
}

// Cursor says how far a session is indexed.
type Cursor struct {
	Session    string
	Generation int
	Offset     int64 // bytes of the transcript, always just behind a newline
	Line       int   // complete lines before Offset
	// State is the reader's own memory, opaque to the store.
	State []byte
}
