// Package demo tells the whole story of Strandline on a session of its own: an
// import, what a compaction would have lost, the block that puts it back, a
// search, and the exact bytes again after the client has deleted its file.
//
// It works in one folder that the caller provides and reaches the archive
// through the functions in Env, so it touches nothing of the user's and shows
// the same code that the commands run.
package demo

import (
	"context"
	"io"
	"time"

	"strandline/internal/archive"
)

// Archive is what the story needs of an installation.
type Archive interface {
	// Import captures every transcript below clientDir, side files and
	// sub-agents included, and calls progress with bytes from time to time and
	// once at the end.
	Import(ctx context.Context, clientDir string, progress func(done, total int64)) (Imported, error)
	// Restore returns the block that would be injected if the session had ended
	// before line beforeLine (0-based, exclusive), in at most budget UTF-16 units.
	Restore(ctx context.Context, session string, beforeLine, budget int) (string, error)
	// Search returns the n best passages, as the search command ranks them.
	Search(ctx context.Context, query string, n int) ([]archive.Hit, error)
	// Export writes the session's transcript, byte for byte.
	Export(ctx context.Context, session string, w io.Writer) error
	// Close releases the archive.
	Close() error
}

// Imported counts what an import brought in.
type Imported struct {
	Sessions int // main sessions
	Agents   int // sub-agents' runs
	Turns    int
	Passages int
	Bytes    int64
}

// Env is what the story is told with.
type Env struct {
	Out io.Writer
	// Color lets the story use ANSI colours; the caller decides by terminal and
	// NO_COLOR. The story reads the same without them.
	Color bool
	// Live lets a progress bar redraw its line; otherwise only its end is shown.
	Live bool
	// Now is the clock, for the durations that are printed.
	Now func() time.Time
	// Dir is an empty folder that the story fills and leaves to the caller to
	// remove: client/ plays the client's folder, home/ is STRANDLINE_HOME.
	Dir string
	// Open opens an archive with its own home and client folder. Run closes it.
	Open func(ctx context.Context, home, clientDir string) (Archive, error)
}
