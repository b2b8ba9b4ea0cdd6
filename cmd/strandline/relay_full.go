//go:build !lean

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/cli"
	"strandline/internal/gateway"
	"strandline/internal/httpapi"
)

// relayed is a gateway and where it listens.
type relayed struct {
	gate     *gateway.Gateway
	listener net.Listener
	token    string
}

// Relay implements cli.Frontends.
func (servers) Relay(ctx context.Context, r cli.Relay) (cli.Relayed, error) {
	upstream, err := url.Parse(strings.TrimRight(r.Upstream, "/"))
	if err != nil || upstream.Host == "" || upstream.Scheme != "https" && upstream.Scheme != "http" {
		return nil, archive.Invalid("the API's address is no http or https address", "--upstream takes one such as https://api.example.com")
	}
	if host, _, err := net.SplitHostPort(r.Listen); err == nil && !httpapi.IsLoopback(host) {
		return nil, archive.Invalid(r.Listen+" can be reached from other machines", "a gateway serves this one only: listen on 127.0.0.1 or ::1")
	}
	listener, err := httpapi.Listen(ctx, r.Listen, false)
	if err != nil {
		return nil, err
	}
	o := gateway.Options{
		Upstream: upstream, Token: r.Token, Handles: r.Handles, NewID: r.NewID, Log: r.Log,
		Rules: gateway.Rules{At: r.PruneAt, Keep: r.PruneKeep, Chars: r.PruneChars},
	}
	if r.Compact != nil {
		o.Compact = func(ctx context.Context, c gateway.Conversation) (string, error) {
			return r.Compact(ctx, cli.Summarised{Session: c.Session, Model: c.Model, Instructions: c.Instructions, Messages: c.Messages})
		}
	}
	return relayed{gateway.New(o), listener, r.Token}, nil
}

// Address is where a client reaches the gateway.
func (g relayed) Address() string {
	return (&url.URL{Scheme: "http", Host: g.listener.Addr().String(), Path: "/" + g.token}).String()
}

// Serve answers until ctx ends.
func (g relayed) Serve(ctx context.Context) error {
	if err := g.gate.Serve(ctx, g.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", g.listener.Addr(), err)
	}
	return nil
}

// Report says what the gateway did.
func (g relayed) Report() string {
	c := g.gate.Counts()
	return fmt.Sprintf("strandline: %d requests, %d of them shortened by %.1f MB in all, %d compactions answered", c.Requests, c.Pruned, float64(c.Bytes)/1e6, c.Compactions)
}
