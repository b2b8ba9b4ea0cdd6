//go:build !lean

package main

import (
	"context"
	"net"
	"net/url"
	"strconv"

	"strandline/internal/cli"
	"strandline/internal/index/postgres"
)

// openTeam returns what opens a team's archive.
func openTeam() func(ctx context.Context, t cli.TeamAddress) (cli.TeamStore, error) {
	return func(ctx context.Context, t cli.TeamAddress) (cli.TeamStore, error) {
		s, err := postgres.Open(ctx, teamURL(t), postgres.Options{
			Schema: t.Postgres.Schema, ReadOnly: !t.Write, Author: t.Author, Machine: t.Machine,
		})
		if err != nil {
			return nil, err // no store, not one that is a nil pointer
		}
		return s, nil
	}
}

// teamURL writes an address as the driver reads it; what it leaves out comes from
// the PG* environment.
func teamURL(t cli.TeamAddress) string {
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
