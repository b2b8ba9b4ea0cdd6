//go:build !lean

package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"filippo.io/age"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/browse"
	"strandline/internal/cli"
	"strandline/internal/embed"
	"strandline/internal/embed/onnx"
	"strandline/internal/embed/remote"
	"strandline/internal/gateway"
	"strandline/internal/httpapi"
	"strandline/internal/index/postgres"
	"strandline/internal/mcpserver"
)

// companion is not called: this program links everything.
func companion(context.Context) error { return errors.New("this program has no companion") }

// FindCompanion implements app.System.
func (system) FindCompanion() (string, error) { return "", nil }

// requests implements app.Network.
type requests struct{}

func network() app.Network { return requests{} }

// Endpoint implements app.Network.
func (requests) Endpoint(url, name, key string, redact func(string) string, attempts int) (embed.Embedder, error) {
	e, err := remote.NewEndpoint(remote.EndpointOptions{URL: url, Model: name, Key: key, Redact: redact, Attempts: attempts})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Fetcher implements app.Network.
func (requests) Fetcher() onnx.Fetch { return remote.Fetch }

// ageCipher implements app.Cipher with the format of age-encryption.org.
type ageCipher struct{}

func encryption() app.Cipher { return ageCipher{} }

// Encrypt implements app.Cipher.
func (ageCipher) Encrypt(data []byte, recipients []string) ([]byte, error) {
	to, err := age.ParseRecipients(strings.NewReader(strings.Join(recipients, "\n")))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to...)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// Decrypt implements app.Cipher.
func (ageCipher) Decrypt(data, identities []byte) ([]byte, error) {
	with, err := age.ParseIdentities(bytes.NewReader(identities))
	if err != nil {
		return nil, err
	}
	r, err := age.Decrypt(bytes.NewReader(data), with...)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

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

// teamURL returns the driver's form of an address. The driver takes missing parts
// from the PG* environment.
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
	if host, port, err := net.SplitHostPort(t.Postgres.Host); err == nil { // the setting may hold HOST:PORT
		q.Set("host", host)
		q.Set("port", port)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

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
		Version: version, Now: now, Log: s.Log, Archive: httpapi.Archive{Catalog: f.app, Content: f.app, Contexts: f.app, Records: f.app}, Redact: f.app.Redact,
		Token: token, Hosts: s.Hosts, Network: s.Network, Exact: s.Exact, Compat: s.Compat,
	})
	url := httpapi.URL(ln.Addr())
	if err := s.Announce(url, func() string { return srv.Link(url) }, token); err != nil {
		return errors.Join(err, ln.Close())
	}
	if s.Guard {
		defer f.guardBeside(ctx, s.Log)()
	}
	return srv.Run(ctx, ln)
}

// guardBeside runs a guard until the returned function is called, unless another one runs.
func (f servers) guardBeside(ctx context.Context, log *slog.Logger) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := f.app.Guard(ctx, app.GuardOptions{Watch: newWatcher, Notice: func(string) {}})
		if code := archive.ErrorCode(err); err != nil && code != archive.CodeBusy && code != archive.CodeInvalid {
			log.Warn("guard", "error", err.Error())
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// ServeMCP implements cli.Frontends. A rejected setting is replaced by its fallback.
func (f servers) ServeMCP(ctx context.Context) error {
	a := f.app.Lenient()
	w, err := a.Workspace()
	if err != nil {
		return err
	}
	project := w.Capture.Project(a.ProjectDir())
	server := mcpserver.New(mcpserver.Options{
		Version: version, Now: now, Log: w.Logger(), Archive: a, Redact: w.Redact, Project: cmp.Or(project.Name, project.Key),
	})
	return server.Run(ctx, os.Stdin, os.Stdout)
}

// guardMemory is a guard's soft memory limit in bytes.
const guardMemory = 48 << 20

// Guard implements cli.Frontends.
func (f servers) Guard(ctx context.Context, notice func(line string)) error {
	debug.SetMemoryLimit(guardMemory)
	return f.app.Guard(ctx, app.GuardOptions{Watch: newWatcher, Missed: true, Notice: notice})
}

// Browse implements cli.Frontends.
func (f servers) Browse(ctx context.Context, b cli.Browsing) error {
	return browse.Run(ctx, os.Stdin, os.Stdout, os.Environ(), browse.Options{
		Archive: f.app, Project: b.Project, All: b.All, Query: b.Query, Sessions: b.Sessions, Now: now,
	})
}

// gatewayMemory is a gateway's soft memory limit in bytes: above it, the buffers of large
// requests are collected early.
const gatewayMemory = 96 << 20

// Relay implements cli.Frontends.
func (f servers) Relay(ctx context.Context, r cli.Relay) (cli.Relayed, error) {
	w, err := f.app.Workspace()
	if err != nil {
		return cli.Relayed{}, err
	}
	upstream, err := url.Parse(strings.TrimRight(r.Upstream, "/"))
	if err != nil || upstream.Host == "" || upstream.Scheme != "https" && upstream.Scheme != "http" {
		return cli.Relayed{}, archive.Invalid("the API's address is not an http or https URL", "use --upstream with a URL such as https://api.example.com")
	}
	if host, _, err := net.SplitHostPort(r.Listen); err == nil && !httpapi.IsLoopback(host) {
		return cli.Relayed{}, archive.Invalid("other machines can reach "+r.Listen, "a gateway serves this machine only: listen on 127.0.0.1 or ::1")
	}
	listener, err := httpapi.Listen(ctx, r.Listen, false)
	if err != nil {
		return cli.Relayed{}, err
	}
	cfg := w.Config.Gateway
	o := gateway.Options{
		Upstream: upstream, Token: r.Token, Handles: f.app.CallHandles, Notice: r.Notice, Log: w.Logger(),
		Limit: f.app.CompactsAt,
		Save: func(c gateway.Counts) {
			if err := f.app.SaveGateway(context.WithoutCancel(ctx), c); err != nil {
				w.Logger().Warn("save the totals of the gateway", "error", err.Error())
			}
		},
		NewID: func() string { return "msg_strandline_" + strings.ToLower(rand.Text()) },
		Rules: gateway.Rules{At: cfg.PruneAt, Keep: cfg.PruneKeep, Chars: cfg.PruneChars, Texts: cfg.PruneText},
	}
	if cfg.Compact {
		o.Compact = f.app.Summarize
	}
	debug.SetMemoryLimit(gatewayMemory)
	gate := gateway.New(o)
	return cli.Relayed{
		Address: (&url.URL{Scheme: "http", Host: listener.Addr().String(), Path: "/" + r.Token}).String(),
		Serve: func(ctx context.Context) error {
			if err := gate.Serve(ctx, listener); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve %s: %w", listener.Addr(), err)
			}
			return nil
		},
		Report: func() string {
			c := gate.Counts()
			return fmt.Sprintf("strandline: %d requests, %d pruned by a total of %.1f MB, %d compactions answered", c.Requests, c.Pruned, float64(c.Bytes)/1e6, c.Compactions)
		},
	}, nil
}
