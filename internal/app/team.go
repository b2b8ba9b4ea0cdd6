package app

import (
	"cmp"

	"strandline/internal/archive"
	"strandline/internal/config"
)

// TeamAddress returns the address of the team's archive from the settings.
func (a *App) TeamAddress(cfg *config.Config, write bool) (TeamAddress, error) {
	p := cfg.Postgres
	if cmp.Or(p.URL, p.Host, p.Database, a.Getenv("PGHOST"), a.Getenv("PGDATABASE"), a.Getenv("PGSERVICE")) == "" {
		return TeamAddress{}, archive.Invalid("the address of the team's archive is not set",
			"strandline config set postgres.url postgres://USER@HOST/DATABASE")
	}
	return TeamAddress{
		Postgres: p, Password: a.Getenv("RUVECTOR_PASSWORD"), Write: write,
		Author:  cmp.Or(cfg.Postgres.Author, a.Getenv("USER"), a.Getenv("USERNAME"), "somebody"),
		Machine: cmp.Or(a.Machine, "some machine"),
	}, nil
}
