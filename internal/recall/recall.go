// Package recall finds what was said and done: it turns a person's query into
// a store query, folds what is the same text twice, and gives ranked passages
// with their place. For what the index holds only in part it reads the logs.
package recall

import (
	"context"
	"time"

	"strandline/internal/archive"
)

// Searcher is what recall needs of a store.
type Searcher interface {
	// Search returns the passages that match best, best first.
	Search(ctx context.Context, q archive.Query) ([]archive.Hit, error)
	// Resolve returns the full id of the session that prefix stands for.
	Resolve(ctx context.Context, prefix string) (string, error)
}

// Recall answers queries over one store. It holds no state between calls and
// may be used by several goroutines if its Searcher may.
type Recall struct {
	store Searcher
	now   func() time.Time
}

// New returns a Recall over store; now is the clock that measures TookMS and
// may be nil for the system's.
func New(store Searcher, now func() time.Time) *Recall {
	if now == nil {
		now = time.Now
	}
	return &Recall{store: store, now: now}
}

// Search answers req.
func (r *Recall) Search(ctx context.Context, req Request) (Result, error) {
	return Result{}, ctx.Err()
}

// LogScanner reads a session's log line by line.
type LogScanner interface {
	// ScanLines calls fn with each complete line in [from, to) of the session's
	// log, without its newline; to 0 means the end. line counts from 0. The
	// bytes are valid during the call. An error of fn ends the scan and is
	// returned.
	ScanLines(ctx context.Context, session string, from, to int, fn func(line int, b []byte) error) error
}

// Deep answers req and also reads the logs where the index holds only a part.
func (r *Recall) Deep(ctx context.Context, logs LogScanner, req Request) (Result, error) {
	return Result{}, ctx.Err()
}

// Snippet cuts the part of text that shows the terms best.
func Snippet(text string, terms []archive.Term, width int) string {
	return text
}
