package gateway

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Options are what a gateway works with.
type Options struct {
	// Upstream is the API that requests are passed on to.
	Upstream *url.URL
	// Token is the first element of every path. Whoever does not know it is not
	// served: the answers hold what the archive knows.
	Token string
	Rules Rules
	// Handles finds what may give way; nil: nothing does.
	Handles Handles
	// Compact answers a request for a summary with a record; nil: such requests are
	// passed on.
	Compact func(ctx context.Context, c Conversation) (record string, err error)
	// NewID makes the id of an answer that no model wrote.
	NewID func() string
	// Log takes what goes wrong.
	Log *slog.Logger
	// Transport speaks to the API; nil: one that goes through the proxies that the
	// environment names, and leaves compression to the client.
	Transport http.RoundTripper
}

// Counts is what a gateway did.
type Counts struct {
	Requests    int64 // for answers of a model
	Pruned      int64 // of them were shortened
	Results     int64 // that gave way, counted once in each request
	Bytes       int64 // that were not sent
	Compactions int64 // answered here
}

// Gateway is an http.Handler.
type Gateway struct {
	opts  Options
	proxy *httputil.ReverseProxy
	shelf shelf
	most  int64 // bytes of a request that is looked into

	requests, pruned, results, bytes, compactions atomic.Int64
}

// MaxBody is the largest request in bytes that is looked into; a larger one is
// passed on as it comes.
const MaxBody = 64 << 20

// Where the API answers, and the client says which session it is.
const (
	messagesPath  = "/v1/messages"
	sessionHeader = "X-Claude-Code-Session-Id"
)

// New returns a gateway.
func New(o Options) *Gateway {
	g := &Gateway{opts: o, shelf: shelf{ask: o.Handles}, most: MaxBody}
	transport := o.Transport
	if transport == nil {
		transport = &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: headerTime, IdleConnTimeout: idleTime,
			DisableCompression: true,
		}
	}
	g.proxy = &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // an answer is shown while it is written
		ErrorLog:      slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(o.Upstream)
			r.Out.Host = o.Upstream.Host
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() != nil {
				return // the client hung up
			}
			o.Log.Warn("the API was not reached", "error", err.Error())
			refuse(w, http.StatusBadGateway, "api_error", "strandline gateway: "+o.Upstream.Host+" is not reached: "+rootOf(err).Error())
		},
	}
	return g
}

// Counts returns what was done so far.
func (g *Gateway) Counts() Counts {
	return Counts{g.requests.Load(), g.pruned.Load(), g.results.Load(), g.bytes.Load(), g.compactions.Load()}
}

// ServeHTTP answers one request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(g.opts.Token)) != 1 {
		refuse(w, http.StatusNotFound, "not_found_error", "strandline gateway: this address lacks the token that the gateway was started with")
		return
	}
	r.URL.Path, r.URL.RawPath = "/"+rest, strings.TrimPrefix(r.URL.RawPath, "/"+token)
	if r.Method == http.MethodPost && r.URL.Path == messagesPath && r.Header.Get("Content-Encoding") == "" {
		if done := g.look(w, r); done {
			return
		}
	}
	g.proxy.ServeHTTP(w, r)
}

// look reads a request for an answer of the model. It has answered it itself, or
// changed it, or left it as it was.
func (g *Gateway) look(w http.ResponseWriter, r *http.Request) (answered bool) {
	g.requests.Add(1)
	body, err := io.ReadAll(io.LimitReader(r.Body, g.most+1))
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "strandline gateway: the request ended early")
		return true
	}
	if int64(len(body)) > g.most {
		r.Body = rest{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
		return false
	}
	set := func(body []byte) {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	set(body)
	req, err := parse(body)
	if err != nil {
		g.opts.Log.Warn("a request is passed on as it is", "error", err.Error())
		return false
	}
	session := r.Header.Get(sessionHeader)
	if prompt, ok := req.summaryAsked(); ok && g.opts.Compact != nil {
		record, err := g.opts.Compact(r.Context(), req.conversation(session, prompt))
		if err == nil {
			g.compactions.Add(1)
			if err := write(w, req, g.opts.NewID(), summaryText(record)); err != nil {
				g.opts.Log.Warn("a compaction was not taken", "error", err.Error())
			}
			return true
		}
		g.opts.Log.Warn("a compaction is left to the model", "error", err.Error())
	}
	if g.opts.Handles == nil || session == "" {
		return false
	}
	out, did := prune(req, g.opts.Rules, func(ids []string) (map[string]string, bool) {
		found, settled, err := g.shelf.find(r.Context(), session, ids)
		if err != nil {
			g.opts.Log.Warn("nothing gives way", "error", err.Error())
		}
		return found, settled
	})
	if did.Results > 0 {
		g.pruned.Add(1)
		g.results.Add(int64(did.Results))
		g.bytes.Add(int64(did.Bytes))
		set(out)
	}
	return false
}

// rest is a body of which a part was read already.
type rest struct {
	io.Reader
	io.Closer
}

// refuse answers as the API does when it cannot.
func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that hung up is no fault.
	_ = json.NewEncoder(w).Encode(map[string]any{
		"type": "error", "error": map[string]string{"type": kind, "message": message},
	})
}

func rootOf(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}

// Times that bound a connection; an answer itself may take as long as it does.
const (
	headerTime = 10 * time.Second
	idleTime   = 5 * time.Minute
	graceTime  = 5 * time.Second
)

// Serve answers on a listener until ctx ends, and then lets answers that are under
// way end within five seconds. It returns http.ErrServerClosed after that.
func (g *Gateway) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: g, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime,
		ErrorLog: slog.NewLogLogger(g.opts.Log.Handler(), slog.LevelWarn),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTime)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		if err := server.Close(); err != nil {
			return err
		}
	}
	return <-ended
}
