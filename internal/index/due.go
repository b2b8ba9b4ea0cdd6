package index

import (
	"fmt"

	"strandline/internal/archive"
)

// Due reports whether a batch is what comes next in its session, which is stored up
// to an offset of a generation, if any of it is found. One that is stored already
// is not; one that does not begin there fails with archive.ErrStale.
func Due(b *archive.Batch, found bool, generation int, offset int64) (bool, error) {
	switch {
	case found && generation != b.Cursor.Generation:
		return false, fmt.Errorf("%s is at generation %d: %w", b.Session.ID, generation, archive.ErrStale)
	case b.From == offset:
		return true, nil
	case b.Cursor.Offset <= offset:
		return false, nil
	}
	return false, fmt.Errorf("%s is at %d, the batch begins at %d: %w", b.Session.ID, offset, b.From, archive.ErrStale)
}
