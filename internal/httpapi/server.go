// Package httpapi serves the archive over HTTP: a JSON API under /api/v1 and a web
// page that uses it. One table defines the routes and the OpenAPI document. Every
// response is redacted, and every request for data needs the token.
package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"strandline/internal/archive"
)

// Options configure a server.
type Options struct {
	Version string
	Now     func() time.Time
	// Log takes internal errors, whose details no response holds.
	Log     *slog.Logger
	Archive Archive
	// Redact replaces the secrets in a text. It is applied to every response.
	Redact func(string) string
	// Token gives access to the API.
	Token string
	// Hosts are the accepted Host headers, in addition to addresses.
	Hosts []string
	// Network allows requests that name the server by any address.
	Network bool
	// Compat, unless "", is CompatDCM: the server answers only the requests of that earlier
	// service, without a token.
	Compat string
	// Exact allows the export of transcripts, which are not redacted.
	Exact bool
}

// Server is the HTTP server.
type Server struct {
	opts     Options
	auth     *auth
	routes   []route
	handler  http.Handler
	readers  chan struct{} // limits concurrent reads of the index
	streams  chan struct{} // limits concurrent event streams
	interval time.Duration // between two polls for events
	hashing  sync.Mutex    // guards hashes
	hashes   map[hashKey]string
	ending   chan struct{} // closed to end event streams
}

// Timeouts of a connection. Handlers of transcripts and event streams extend the
// write timeout while they send.
const (
	headerTimeout   = 5 * time.Second
	readTimeout     = 30 * time.Second
	writeTimeout    = 60 * time.Second
	idleTimeout     = 2 * time.Minute
	maxHeader       = 16 << 10 // bytes
	handlerTimeout  = 30 * time.Second
	shutdownTimeout = 5 * time.Second
)

// maxReaders limits the requests that read the index at the same time.
const maxReaders = 8

// New returns a server that does not listen yet.
func New(o Options) *Server {
	s := &Server{
		opts: o, auth: newAuth(o), readers: make(chan struct{}, maxReaders), ending: make(chan struct{}),
		streams: make(chan struct{}, maxStreams), interval: eventsInterval, hashes: map[hashKey]string{},
	}
	if o.Compat != "" {
		s.handler = s.guarded(s.dcmMux())
		return s
	}
	s.routes = s.table()
	s.handler = s.guarded(s.mux())
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Link returns a login link below base that works once.
func (s *Server) Link(base string) string { return base + loginPath + "/" + s.auth.newLink() }

// Listen listens on an address; "127.0.0.1:0" takes a free port. It refuses an
// address that other machines can reach unless network is set.
func Listen(ctx context.Context, addr string, network bool) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, &archive.Error{Code: archive.CodeInvalid, Msg: fmt.Sprintf("%q is not an address", addr), Err: err, Hint: "use HOST:PORT, such as 127.0.0.1:0"}
	}
	if !network && !IsLoopback(host) {
		return nil, archive.Invalid("other machines can reach "+addr, "add --network to allow that, or listen on 127.0.0.1")
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	switch {
	case isInUse(err):
		return nil, &archive.Error{Code: archive.CodeBusy, Msg: "another program listens on " + addr, Err: err, Hint: "choose another port, or 0 for any free one"}
	case err != nil:
		return nil, &archive.Error{Code: archive.CodeDenied, Msg: "cannot listen on " + addr, Err: err, Hint: "choose an address of this machine and a port above 1023"}
	}
	return ln, nil
}

// isInUse reports whether an address is in use. Windows has a separate error
// number for that.
func isInUse(err error) bool {
	const windows = syscall.Errno(10048)
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, windows)
}

// URL returns the URL of a server that listens on addr, with 127.0.0.1 in place of
// an unspecified address.
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

// Run serves ln until ctx ends, and then waits up to shutdownTimeout for open
// requests. It can be called once.
func (s *Server) Run(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
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
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err := srv.Shutdown(wait)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	for range failed { // until Serve has returned
	}
	if err != nil {
		return fmt.Errorf("end HTTP server: %w", err)
	}
	return nil
}
