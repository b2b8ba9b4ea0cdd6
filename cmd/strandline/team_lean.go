//go:build lean

package main

import (
	"context"

	"strandline/internal/cli"
)

// openTeam leaves the team's archive to the companion: its driver would cost every
// hook's start.
func openTeam() func(ctx context.Context, t cli.TeamAddress) (cli.TeamStore, error) { return nil }
