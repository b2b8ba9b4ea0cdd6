//go:build lean

package main

import (
	"context"

	"strandline/internal/cli"
)

// browser leaves the terminal interface to the companion.
func browser() func(ctx context.Context, b cli.Browsing) error { return nil }
