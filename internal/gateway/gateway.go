// Package gateway is a proxy between a client and the Messages API. It forwards
// requests unchanged, with two exceptions:
//
//   - Old tool results that the archive holds are replaced by a line with their
//     handle, so that a conversation takes longer to fill its context window.
//   - The request in which the client asks for a summary of the conversation is
//     answered with the replacement that `strandline compact` makes, without a
//     model.
//
// The API caches the longest known prefix of a request. Pruning therefore depends
// only on the request's own bytes, so that a result replaced once is replaced the
// same way in every later request. Results are pruned rarely and many at a time;
// each request finds the earlier prune points again by walking the conversation
// from its start.
//
// A request that cannot be parsed is forwarded unchanged.
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
	"sync"
	"time"

	"strandline/internal/app"
)

// Options configure a gateway.
type Options struct {
	// Upstream is the API's address.
	Upstream *url.URL
	// Token is the required first element of every path. It protects the archive's
	// content, which responses hold.
	Token string
	Rules Rules
	// Handles finds archived tool results. Nil disables pruning.
	Handles Handles
	// Compact returns the replacement for a conversation to be summarized. Nil
	// leaves summaries to the model.
	Compact func(ctx context.Context, c app.Summarized) (string, error)
	// Notice reports to the user, once, why results cannot be pruned. Nil: only the log has it.
	Notice func(text string)
	// Limit returns the tokens at which the client compacts; 0 if unknown. Nil: always.
	Limit func(model string) int64
	// Save takes the amounts added to the totals. Nil: they end with the gateway.
	Save func(Counts)
	// NewID returns an id for a response that the gateway itself writes.
	NewID func() string
	Log   *slog.Logger
}

// Counts are totals of a gateway.
type Counts = app.GatewayCounts

// Gateway is the proxy's http.Handler.
type Gateway struct {
	opts    Options
	proxy   *httputil.ReverseProxy
	handles handleCache
	maxBody int64
	told    sync.Once

	mu      sync.Mutex
	counts  Counts
	unsaved Counts
	avoided map[string]int64 // by session: compactions of the whole conversation
}

// MaxBody is the largest request, in bytes, that is parsed. A larger one is
// forwarded unchanged.
const MaxBody = 64 << 20

// The Messages endpoint, and the client's header with the session id.
const (
	messagesPath  = "/v1/messages"
	sessionHeader = "X-Claude-Code-Session-Id"
)

// New returns a gateway.
func New(o Options) *Gateway {
	g := &Gateway{opts: o, handles: handleCache{find: o.Handles}, maxBody: MaxBody}
	g.proxy = &httputil.ReverseProxy{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: headerTime, IdleConnTimeout: idleTime,
			DisableCompression: true, // left to the client
		},
		FlushInterval: -1, // stream responses
		ErrorLog:      slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.RawQuery = r.In.URL.RawQuery // the proxy has dropped parameters with a semicolon
			r.SetURL(o.Upstream)
			r.Out.Host = o.Upstream.Host
			if _, ok := r.In.Context().Value(sentKey{}).(sent); ok {
				r.Out.Header.Set("Accept-Encoding", "identity") // the usage in the response is read
			}
		},
		ModifyResponse: g.meterResponse,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() != nil {
				return // the client hung up
			}
			o.Log.Warn("reach the API", "error", err.Error())
			for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
				err = next // the cause
			}
			refuse(w, http.StatusBadGateway, "api_error", "strandline gateway: cannot reach "+o.Upstream.Host+": "+err.Error())
		},
	}
	return g
}

// Counts returns the totals so far.
func (g *Gateway) Counts() Counts {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.counts
}

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(g.opts.Token)) != 1 {
		refuse(w, http.StatusNotFound, "not_found_error", "strandline gateway: the token in this address is missing or wrong")
		return
	}
	r.URL.Path, r.URL.RawPath = "/"+rest, strings.TrimPrefix(r.URL.RawPath, "/"+token)
	if r.Method == http.MethodPost && r.URL.Path == messagesPath && r.Header.Get("Content-Encoding") == "" {
		var answered bool
		if r, answered = g.rewrite(w, r); answered {
			return
		}
	}
	g.proxy.ServeHTTP(w, r)
}

// rewrite parses a request to the Messages endpoint. It answers the request, or
// prunes its body, or leaves it unchanged.
func (g *Gateway) rewrite(w http.ResponseWriter, r *http.Request) (out *http.Request, answered bool) {
	g.add(Counts{Requests: 1})
	body, err := readBody(r, g.maxBody+1)
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "strandline gateway: unexpected end of the request")
		return r, true
	}
	if int64(len(body)) > g.maxBody {
		r.Body = partialBody{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
		return r, false
	}
	setBody(r, body)
	req, err := parse(body)
	if err != nil {
		g.opts.Log.Warn("forward a request unchanged", "error", err.Error())
		return r, false
	}
	session := r.Header.Get(sessionHeader)
	if prompt, ok := req.summaryPrompt(); ok && g.opts.Compact != nil {
		summary, err := g.opts.Compact(r.Context(), req.conversation(session, prompt))
		if err == nil {
			g.add(Counts{Compactions: 1})
			if err := write(w, req, g.opts.NewID(), summaryText(summary)); err != nil {
				g.opts.Log.Warn("write a compaction", "error", err.Error())
			}
			return r, true
		}
		g.opts.Log.Warn("leave a compaction to the model", "error", err.Error())
	}
	as := sent{session: session, model: req.model, whole: int64(len(body)), bytes: int64(len(body))}
	if g.opts.Handles == nil || session == "" {
		return withSent(r, as), false
	}
	short, removed := prune(req, g.opts.Rules, func(ids []string) (map[string]string, bool) {
		found, final, err := g.handles.lookup(r.Context(), session, ids)
		if err != nil && r.Context().Err() == nil {
			g.told.Do(func() { g.tell(err) })
		}
		return found, final
	})
	if removed.bytes != 0 {
		g.add(Counts{Pruned: 1, Results: int64(removed.results), Texts: int64(removed.texts), Bytes: int64(removed.bytes)})
		setBody(r, short)
		as.bytes = int64(len(short))
	}
	return withSent(r, as), false
}

// tell reports why old results stay in the requests.
func (g *Gateway) tell(err error) {
	g.opts.Log.Warn("old results stay in the requests", "error", err.Error())
	if g.opts.Notice != nil {
		g.opts.Notice("old tool results stay in the requests: " + err.Error())
	}
}

// readBody reads at most limit bytes of a request, into one buffer if their number is
// known.
func readBody(r *http.Request, limit int64) ([]byte, error) {
	in := io.LimitReader(r.Body, limit)
	if r.ContentLength < 0 || r.ContentLength >= limit {
		return io.ReadAll(in)
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(in, body)
	return body, err
}

func setBody(r *http.Request, body []byte) {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
}

// partialBody is a body whose start was read already.
type partialBody struct {
	io.Reader
	io.Closer
}

// refuse writes an error in the API's format.
func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}})
}

// Timeouts of a connection. A response has none.
const (
	headerTime = 10 * time.Second
	idleTime   = 5 * time.Minute
	graceTime  = 5 * time.Second
)

// Serve answers on a listener until ctx ends, and then waits up to five seconds
// for open responses. It then returns http.ErrServerClosed.
func (g *Gateway) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: g, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime,
		ErrorLog: slog.NewLogLogger(g.opts.Log.Handler(), slog.LevelWarn),
	}
	defer g.save()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTime)
	defer cancel()
	if server.Shutdown(grace) != nil {
		if err := server.Close(); err != nil {
			return err
		}
	}
	return <-ended
}
