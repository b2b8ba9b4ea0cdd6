//go:build lean

package main

import (
	"context"

	"strandline/internal/config"
)

// serveMCP leaves the server to the companion: what it links would cost every
// hook's start.
func serveMCP(ctx context.Context, _ *config.Config, _ string) error { return companion(ctx) }
