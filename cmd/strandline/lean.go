//go:build lean

package main

import (
	"context"

	"strandline/internal/app"
	"strandline/internal/cli"
)

// The lean program leaves the network and the servers to its companion: linking
// them would slow down the start of every hook.

func network() app.Network { return nil }

func frontends(*app.App) cli.Frontends { return nil }

// LinksTeam implements app.Stores.
func (stores) LinksTeam() bool { return false }

// OpenTeam implements app.Stores.
func (stores) OpenTeam(context.Context, app.TeamAddress) (*app.TeamStore, error) {
	return nil, app.ErrNotLinked
}
