// Package browse is a terminal interface to the archive: search as you type, the
// list of hits and the text around the selected one.
package browse

import (
	"context"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
)

// Archive is the archive to browse, usually an *app.App. Its methods are called from several
// goroutines; a call whose result is no longer needed is cancelled.
type Archive interface {
	Search(ctx context.Context, q app.SearchQuery) (recall.Result, error)
	// Place returns the redacted text of a step, or of a turn if the step is
	// negative.
	Place(ctx context.Context, at archive.Handle) (app.Place, error)
}

// Options configure a browser.
type Options struct {
	Archive  Archive
	Project  string // the current project's name
	All      bool   // start with all projects
	Query    string // initial query
	Sessions int    // number of archived sessions
	Now      func() time.Time
}

// Terminal is the browser's terminal.
type Terminal struct {
	In  io.Reader
	Out io.Writer
	// Env is its environment, with TERM and NO_COLOR.
	Env []string
}

// Run shows the archive until the user leaves. It returns an error if ctx ends
// before.
func Run(ctx context.Context, t Terminal, opt Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends running searches
	p := tea.NewProgram(New(ctx, opt), tea.WithContext(ctx), tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Env))
	if _, err := p.Run(); err != nil {
		return fmt.Errorf("browse: %w", err)
	}
	return nil
}
