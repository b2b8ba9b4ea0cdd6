// Package transcript says what a reader of a client's transcript has to do. The
// readers themselves stand in sub-packages named for their client.
package transcript

import (
	"context"

	"strandline/internal/archive"
)

// Lookup finds the places at which identities were first seen, in this session
// or another; keys that are unknown are absent from the answer.
type Lookup func(ctx context.Context, keys []uint64) (map[uint64]archive.Ref, error)

// Reader folds a transcript into the rows of the archive, a piece at a time.
// Reading in pieces gives the same rows as reading the whole.
type Reader interface {
	// Read takes the complete lines that follow what was read before (chunk
	// ends with a newline) and returns what they change. The batch's cursor
	// holds the reader's memory: a new reader made from it goes on from there.
	Read(ctx context.Context, chunk []byte, lookup Lookup) (archive.Batch, error)
}
