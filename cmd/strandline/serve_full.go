//go:build !lean

package main

import (
	"context"
	"errors"

	"strandline/internal/app"
	"strandline/internal/cli"
	"strandline/internal/httpapi"
)

// servers implements cli.Frontends.
type servers struct{ app *app.App }

func frontends(a *app.App) cli.Frontends { return servers{a} }

// ServeHTTP implements cli.Frontends.
func (f servers) ServeHTTP(ctx context.Context, s cli.Serving) error {
	token := s.Token
	if token == "" {
		token = httpapi.NewToken()
	}
	ln, err := httpapi.Listen(ctx, s.Listen, s.Network)
	if err != nil {
		return err
	}
	srv := httpapi.New(httpapi.Options{
		Version: version, Now: now, Log: s.Log, Archive: httpapi.Archive{Catalog: f.app, Content: f.app, Contexts: f.app}, Redact: f.app.Redact,
		Token: token, Hosts: s.Hosts, Network: s.Network, Exact: s.Exact,
	})
	url := httpapi.URL(ln.Addr())
	if err := s.Announce(url, func() string { return srv.Link(url) }, token); err != nil {
		return errors.Join(err, ln.Close())
	}
	return srv.Run(ctx, ln)
}
