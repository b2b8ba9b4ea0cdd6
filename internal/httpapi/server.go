// Package httpapi is the archive's face for people and programs that speak HTTP:
// a JSON API under /api/v1, described by an OpenAPI document that is made of the
// same table as the routes, and a web page that uses it. What leaves is redacted,
// and nobody gets in without the token.
package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"strandline/internal/archive"
)

// Options are what a server works with.
type Options struct {
	Version string
	Now     func() time.Time
	// Log takes what goes wrong inside; a client is told no more than that.
	Log     *slog.Logger
	Archive Archive
	// Redact replaces the secrets in a text. It is applied to every text that leaves.
	Redact func(string) string
	// Token opens the API to who knows it.
	Token string
	// Hosts are the names by which the server may be called, beside addresses.
	Hosts []string
	// Network says that it listens beyond this machine.
	Network bool
	// Exact lets transcripts leave as they are, with the secrets in them.
	Exact bool
}

// Server answers HTTP.
type Server struct {
	opts    Options
	gate    *gate
	routes  []route
	handler http.Handler
	readers chan struct{} // who reads the index now
	streams chan struct{} // who listens to events now
	every   time.Duration // between two looks for events
	sums    *sums
	// document is the OpenAPI document, made when somebody asks for it.
	document func() (json.RawMessage, error)
	ending   chan struct{} // closed when streams of events have to end
}

// The bounds of a connection. A transcript or a stream of events may take longer
// to write; their handlers move the deadline as they go on.
const (
	headerWait   = 5 * time.Second
	readWait     = 30 * time.Second
	writeWait    = 60 * time.Second
	idleWait     = 2 * time.Minute
	maxHeader    = 16 << 10
	answerWithin = 30 * time.Second
	endWithin    = 5 * time.Second
)

// maxReaders is how many requests read the index at once; others wait for them.
const maxReaders = 8

// New returns a server. It listens to nobody yet.
func New(o Options) *Server {
	s := &Server{opts: o, gate: newGate(o), readers: make(chan struct{}, maxReaders), ending: make(chan struct{}),
		streams: make(chan struct{}, maxStreams), every: eventsEvery, sums: newSums()}
	s.document = sync.OnceValues(func() (json.RawMessage, error) { return describe(s.routes, o.Version) })
	s.routes = s.table()
	s.handler = s.guarded(s.mux())
	return s
}

// Handler answers requests; tests call it without a network.
func (s *Server) Handler() http.Handler { return s.handler }

// Link returns an address below base that lets one browser in, once.
func (s *Server) Link(base string) string { return base + loginPath + "/" + s.gate.newLink() }

// Listen listens on an address, "127.0.0.1:0" for a free port of this machine. An
// address that others can reach is refused unless network is set.
func Listen(ctx context.Context, addr string, network bool) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, &archive.Error{Code: archive.CodeInvalid, Msg: fmt.Sprintf("%q is no address", addr), Err: err, Hint: "write HOST:PORT, such as 127.0.0.1:0"}
	}
	if !network && !IsLoopback(host) {
		return nil, archive.Invalid(fmt.Sprintf("%s can be reached from other machines", addr),
			"add --network if that is meant, or listen on 127.0.0.1")
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, cannotListen(addr, err)
	}
	return ln, nil
}

// URL is the address to call a server by that listens at addr. One that listens
// everywhere is called by this machine's own name for itself.
func URL(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return "http://" + addr.String()
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// cannotListen says why nobody can listen on an address.
func cannotListen(addr string, err error) error {
	if inUse(err) {
		return &archive.Error{Code: archive.CodeBusy, Msg: "another program listens on " + addr, Err: err, Hint: "choose another port, or 0 for any that is free"}
	}
	return &archive.Error{Code: archive.CodeDenied, Msg: "cannot listen on " + addr, Err: err, Hint: "choose an address of this machine and a port above 1023"}
}

// Run answers what arrives at ln until ctx ends; then it lets requests that are
// underway end, for some seconds. It runs once.
func (s *Server) Run(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: headerWait, ReadTimeout: readWait, WriteTimeout: writeWait, IdleTimeout: idleWait,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	failed := make(chan error, 1)
	go func() {
		defer close(failed)
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			failed <- err
		}
	}()
	select {
	case err := <-failed:
		return fmt.Errorf("serve HTTP: %w", err)
	case <-ctx.Done():
	}
	close(s.ending)
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	err := srv.Shutdown(wait)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	for range failed { // until nobody serves any more
	}
	if err != nil {
		return fmt.Errorf("end HTTP server: %w", err)
	}
	return nil
}
