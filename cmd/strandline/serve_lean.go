//go:build lean

package main

import (
	"context"

	"strandline/internal/cli"
)

// server leaves the HTTP API to the companion: what it links would cost every
// hook's start.
func server() func(ctx context.Context, s cli.Serving) error { return nil }
