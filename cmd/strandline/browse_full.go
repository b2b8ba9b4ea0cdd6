//go:build !lean

package main

import (
	"context"
	"os"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/browse"
	"strandline/internal/cli"
	"strandline/internal/recall"
)

// Browse implements cli.Frontends.
func (f servers) Browse(ctx context.Context, b cli.Browsing) error {
	return browse.Run(ctx, browse.Terminal{In: os.Stdin, Out: os.Stdout, Env: os.Environ()}, browse.Options{
		Archive: browsable{f.app}, Project: b.Project, All: b.All, Query: b.Query, Sessions: b.Sessions, Now: now,
	})
}

// browsable implements browse.Archive.
type browsable struct{ app *app.App }

// browseLimit is the number of hits of a search.
const browseLimit = 50

// Search implements browse.Archive.
func (b browsable) Search(ctx context.Context, query string, all bool, since time.Time) (recall.Result, error) {
	if typed, err := recall.Parse(query, now()); err == nil && typed.Since.After(since) {
		since = typed.Since // the narrower limit applies
	}
	return b.app.Search(ctx, app.SearchQuery{Text: query, Scope: app.Scope{All: all}, Since: since, Limit: browseLimit})
}

// Read implements browse.Archive.
func (b browsable) Read(ctx context.Context, at archive.Ref) ([]app.Block, error) {
	p, err := b.app.Place(ctx, archive.Handle(at))
	return p.Blocks, err
}
