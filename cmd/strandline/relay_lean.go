//go:build lean

package main

import (
	"context"

	"strandline/internal/cli"
)

// relay leaves the gateway to the companion: the network is its business.
func relay() func(ctx context.Context, r cli.Relay) (cli.Relayed, error) { return nil }
