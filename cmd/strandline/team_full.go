//go:build !lean

package main

import (
	"context"
	"net"
	"net/url"
	"strconv"

	"strandline/internal/app"
	"strandline/internal/index/postgres"
)

// LinksTeam implements app.Stores.
func (stores) LinksTeam() bool { return true }

// OpenTeam implements app.Stores.
func (stores) OpenTeam(ctx context.Context, t app.TeamAddress) (*app.TeamStore, error) {
	s, err := postgres.Open(ctx, teamURL(t), postgres.Options{
		Schema: t.Postgres.Schema, ReadOnly: !t.Write, Author: t.Author, Machine: t.Machine,
	})
	if err != nil {
		return nil, err
	}
	return &app.TeamStore{Remote: s, Index: s}, nil
}

// teamURL writes an address as the driver reads it; what it leaves out comes from
// the PG* environment.
func teamURL(t app.TeamAddress) string {
	if t.Postgres.URL != "" {
		return t.Postgres.URL
	}
	u := url.URL{Scheme: "postgres", Path: "/" + t.Postgres.Database}
	q := url.Values{}
	for name, value := range map[string]string{"host": t.Postgres.Host, "user": t.Postgres.User, "password": t.Password, "sslmode": t.Postgres.SSL} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if t.Postgres.Port > 0 {
		q.Set("port", strconv.Itoa(t.Postgres.Port))
	}
	if host, port, err := net.SplitHostPort(t.Postgres.Host); err == nil { // HOST:PORT, as some write it
		q.Set("host", host)
		q.Set("port", port)
	}
	u.RawQuery = q.Encode()
	return u.String()
}
