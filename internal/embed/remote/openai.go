// Package openai embeds texts at an endpoint that the user names: any that speaks
// as OpenAI's /v1/embeddings or Ollama's /api/embed does. Nothing is sent before
// it is redacted, to no other address, and never in the clear to another machine.
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"strandline/internal/archive"
	"strandline/internal/embed"
)

// EndpointOptions say where to ask.
type EndpointOptions struct {
	// URL of the endpoint. Where its path does not end in embeddings or embed,
	// /embeddings is added: http://127.0.0.1:8080/v1 is enough.
	URL   string
	Model string
	Key   string // sent as a bearer token; empty: none
	// Redact removes secrets from a text.
	Redact func(string) string
	// Timeout is how long one request may take, and all its attempts together
	// as many times that. 0 means 10 seconds.
	Timeout time.Duration
	// Attempts is how often a request that fails in a way that may pass is sent; 0
	// means three times.
	Attempts int
	// Pause waits between attempts; nil waits by the clock.
	Pause func(ctx context.Context, d time.Duration) error
}

// Limits of a conversation.
const (
	defaultTimeout = 10 * time.Second
	defaultTries   = 3
	firstPause     = 250 * time.Millisecond
	longestPause   = 5 * time.Second
	maxAnswer      = 64 << 20 // bytes
	maxText        = 16 << 10 // bytes of a text that are sent
	maxDim         = 1 << 14
)

// Endpoint asks an endpoint.
type Endpoint struct {
	opt    EndpointOptions
	at     string
	single bool // Ollama's older form, one text at a time
	client *http.Client
	dim    atomic.Int64
}

var _ embed.Embedder = (*Endpoint)(nil)

// NewEndpoint checks the options and returns an Embedder. It asks nothing yet.
func NewEndpoint(opt EndpointOptions) (*Endpoint, error) {
	u, err := url.Parse(opt.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, archive.Invalid(fmt.Sprintf("%q is no address of an embedding endpoint", archive.Clip(opt.URL, 200)),
			"set embed.url to one such as http://127.0.0.1:11434/api/embed")
	}
	if u.User != nil {
		return nil, archive.Invalid("the address of the embedding endpoint holds a password", "put the key into STRANDLINE_EMBED_KEY")
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, archive.Invalid("the embedding endpoint is on another machine and not encrypted", "use https, or an endpoint on this machine")
	}
	if opt.Model == "" {
		return nil, archive.Invalid("no model is named for the embedding endpoint", "set embed.endpoint_model")
	}
	if opt.Timeout <= 0 {
		opt.Timeout = defaultTimeout
	}
	if opt.Attempts <= 0 {
		opt.Attempts = defaultTries
	}
	if opt.Pause == nil {
		opt.Pause = pause
	}
	path := strings.TrimRight(u.Path, "/")
	if !strings.HasSuffix(path, "/embeddings") && !strings.HasSuffix(path, "/embed") {
		path += "/embeddings"
	}
	u.Path = path
	return &Endpoint{
		opt: opt, at: u.String(), single: strings.HasSuffix(path, "/api/embeddings"),
		client: &http.Client{
			// The key and the texts go to the address that the user named.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Name is "http/" and the model: another endpoint with the same model is taken to
// give the same vectors.
func (e *Endpoint) Name() string { return "http/" + e.opt.Model }

// Dim returns the length of the vectors, 0 before the first answer.
func (e *Endpoint) Dim() int { return int(e.dim.Load()) }

// Embed implements embed.Embedder. A request that fails in a way that may pass
// (no connection, status 429 or 5xx) is tried again, as often as the options say.
func (e *Endpoint) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) > embed.MaxBatch {
		return nil, fmt.Errorf("%d texts at once, at most %d", len(texts), embed.MaxBatch)
	}
	clean := make([]string, len(texts))
	for i, t := range texts {
		clean[i] = archive.Clip(e.opt.Redact(t), maxText)
		if strings.TrimSpace(clean[i]) == "" {
			clean[i] = "." // some endpoints refuse an empty text; its vector is dropped below
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(e.opt.Attempts)*e.opt.Timeout)
	defer cancel()
	var vs [][]float32
	if e.single {
		for _, t := range clean {
			one, err := e.ask(ctx, map[string]any{"model": e.opt.Model, "prompt": t}, 1)
			if err != nil {
				return nil, err
			}
			vs = append(vs, one...)
		}
	} else if len(clean) > 0 {
		var err error
		if vs, err = e.ask(ctx, map[string]any{"model": e.opt.Model, "input": clean}, len(clean)); err != nil {
			return nil, err
		}
	}
	return vs, e.check(texts, vs)
}

// check makes unit vectors of one length.
func (e *Endpoint) check(texts []string, vs [][]float32) error {
	for i, v := range vs {
		dim := e.dim.Load()
		if dim == 0 && len(v) > 0 && len(v) <= maxDim {
			e.dim.CompareAndSwap(0, int64(len(v)))
			dim = e.dim.Load()
		}
		if int64(len(v)) != dim || dim == 0 {
			return fmt.Errorf("the endpoint gave a vector of %d components, %d are expected", len(v), dim)
		}
		if strings.TrimSpace(texts[i]) == "" || !embed.Normalise(v) {
			vs[i] = nil
		}
	}
	return nil
}

// passing is an error that may pass; after says how long the endpoint wants to be
// left alone.
type passing struct {
	error
	after time.Duration
}

func (p passing) Unwrap() error { return p.error }

// ask sends a request until it is answered, and expects n vectors.
func (e *Endpoint) ask(ctx context.Context, request any, n int) ([][]float32, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("ask the endpoint: %w", err)
	}
	wait := firstPause
	for try := 1; ; try++ {
		vs, err := e.once(ctx, body, n)
		var again passing
		if err == nil || try == e.opt.Attempts || !errors.As(err, &again) || ctx.Err() != nil {
			return vs, err
		}
		if err := e.opt.Pause(ctx, min(max(wait, again.after), longestPause)); err != nil {
			return nil, errors.Join(again.error, err)
		}
		wait *= 2
	}
}

func (e *Endpoint) once(ctx context.Context, body []byte, n int) (vs [][]float32, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.opt.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.at, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask the endpoint: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if e.opt.Key != "" {
		req.Header.Set("Authorization", "Bearer "+e.opt.Key)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, passing{error: fmt.Errorf("the endpoint does not answer: %w", err)}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, passing{error: fmt.Errorf("the endpoint's answer breaks off: %w", err)}
	}
	if resp.StatusCode != http.StatusOK {
		err := fmt.Errorf("the endpoint answers %s: %s", resp.Status, archive.Clip(strings.Join(strings.Fields(e.opt.Redact(string(data))), " "), 200))
		if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500 {
			seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // 0 where it says nothing or a date
			return nil, passing{err, time.Duration(min(seconds, 60)) * time.Second}
		}
		return nil, err
	}
	if len(data) > maxAnswer {
		return nil, fmt.Errorf("the endpoint's answer is longer than %d MB", maxAnswer>>20)
	}
	return decode(data, n)
}

// answer is what the known endpoints say, each in its own fields.
type answer struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
	Embeddings [][]float32 `json:"embeddings"`
	Embedding  []float32   `json:"embedding"`
}

func decode(data []byte, n int) ([][]float32, error) {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, fmt.Errorf("the endpoint's answer is no list of vectors: %w", err)
	}
	vs := a.Embeddings
	if len(a.Data) > 0 {
		vs = make([][]float32, len(a.Data))
		for _, d := range a.Data {
			if d.Index < 0 || d.Index >= len(vs) || vs[d.Index] != nil {
				return nil, errors.New("the endpoint's answer numbers its vectors wrongly")
			}
			vs[d.Index] = d.Embedding
		}
	} else if a.Embedding != nil {
		vs = [][]float32{a.Embedding}
	}
	if len(vs) != n {
		return nil, fmt.Errorf("the endpoint gave %d vectors for %d texts", len(vs), n)
	}
	return vs, nil
}
