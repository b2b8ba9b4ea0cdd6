//go:build !lean

package main

import (
	"context"
	"os"

	"strandline/internal/browse"
	"strandline/internal/cli"
)

// Browse implements cli.Frontends.
func (servers) Browse(ctx context.Context, b cli.Browsing) error {
	return browse.Run(ctx, browse.Terminal{In: os.Stdin, Out: os.Stdout, Env: os.Environ()}, browse.Options{
		Archive: b.Archive, Project: b.Project, All: b.All, Query: b.Query, Sessions: b.Sessions, Now: now,
	})
}
