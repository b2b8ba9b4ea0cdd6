// Package browse is the archive in a terminal: a search that answers while one
// types, its hits, and what stands where they were found.
package browse

import (
	"context"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"strandline/internal/archive"
	"strandline/internal/logread"
	"strandline/internal/recall"
)

// Archive is what is browsed. Its methods are called from several goroutines,
// and a call whose answer nobody waits for any more is cancelled.
type Archive interface {
	// Search answers a query as it was typed, filters in it included; all means
	// every project, and a zero time no limit.
	Search(ctx context.Context, query string, all bool, since time.Time) (recall.Result, error)
	// Read returns the redacted text of a place: of a step, or of a turn if the
	// step is negative.
	Read(ctx context.Context, at archive.Ref) ([]logread.Block, error)
}

// Options of a browser.
type Options struct {
	Archive  Archive
	Project  string // what searches are limited to at first is called so
	All      bool   // search all projects at first
	Query    string // what stands in the search line at first
	Sessions int    // how many the archive holds
	Now      func() time.Time
}

// Terminal is what the browser draws on.
type Terminal struct {
	In  io.Reader
	Out io.Writer
	// Env are the terminal's variables, TERM and NO_COLOR among them.
	Env []string
}

// Run shows the archive until whoever looks at it leaves, or ctx ends, which is
// an error.
func Run(ctx context.Context, t Terminal, opt Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // of searches that still run
	p := tea.NewProgram(New(ctx, opt), tea.WithContext(ctx), tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Env))
	if _, err := p.Run(); err != nil {
		return fmt.Errorf("browse: %w", err)
	}
	return nil
}
