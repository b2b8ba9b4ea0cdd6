// Package remote embeds texts at an HTTP endpoint and downloads model files. It is
// separate because it links net/http, which the program that hooks call does not.
package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"strandline/internal/archive"
	"strandline/internal/embed"
)

// EndpointOptions configures an Endpoint.
type EndpointOptions struct {
	// URL of the endpoint. "/embeddings" is added to a path that does not end in
	// embeddings or embed: http://127.0.0.1:8080/v1 is enough.
	URL   string
	Model string
	Key   string // sent as a bearer token unless empty
	// Redact removes secrets from a text.
	Redact func(string) string
	// Timeout limits one request (default 10 s). All attempts together are limited to
	// Attempts times Timeout.
	Timeout time.Duration
	// Attempts is the number of times a temporary failure is tried (default 3).
	Attempts int
	// Pause waits between attempts (default: by the clock).
	Pause func(ctx context.Context, d time.Duration) error
}

// Limits of requests and answers.
const (
	defaultTimeout  = 10 * time.Second
	defaultAttempts = 3
	firstPause      = 250 * time.Millisecond
	longestPause    = 5 * time.Second
	maxAnswer       = 64 << 20 // bytes
	maxText         = 16 << 10 // bytes of a text
	maxDim          = 1 << 14
)

// Endpoint is an embedder at an address that the user configured. It supports the
// protocols of OpenAI's /v1/embeddings and Ollama's /api/embed. Texts are redacted
// before they are sent; plain HTTP is used on this machine only.
type Endpoint struct {
	opt    EndpointOptions
	url    string
	single bool // Ollama's older protocol: one text per request
	client *http.Client
	dim    atomic.Int64
}

var _ embed.Embedder = (*Endpoint)(nil)

// NewEndpoint checks the options. It sends nothing.
func NewEndpoint(opt EndpointOptions) (*Endpoint, error) {
	u, err := url.Parse(opt.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, archive.Invalid(fmt.Sprintf("%q is not the address of an embedding endpoint", archive.Clip(opt.URL, 200)),
			"set embed.url to an address such as http://127.0.0.1:11434/api/embed")
	case u.User != nil:
		return nil, archive.Invalid("the address of the embedding endpoint contains a password", "set the key in STRANDLINE_EMBED_KEY")
	case !secure(u):
		return nil, archive.Invalid("the embedding endpoint is on another machine and not encrypted", "use https, or an endpoint on this machine")
	case opt.Model == "":
		return nil, archive.Invalid("the model of the embedding endpoint is not set", "set embed.endpoint_model")
	}
	opt.Timeout, opt.Attempts = cmp.Or(max(opt.Timeout, 0), defaultTimeout), cmp.Or(max(opt.Attempts, 0), defaultAttempts)
	if opt.Pause == nil {
		opt.Pause = pause
	}
	u.Path = strings.TrimRight(u.Path, "/")
	if !strings.HasSuffix(u.Path, "/embeddings") && !strings.HasSuffix(u.Path, "/embed") {
		u.Path += "/embeddings"
	}
	return &Endpoint{
		opt: opt, url: u.String(), single: strings.HasSuffix(u.Path, "/api/embeddings"),
		// Key and texts are sent to the configured address only.
		client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Name returns "http/" and the model: the same model at another endpoint is assumed to
// make the same vectors.
func (e *Endpoint) Name() string { return "http/" + e.opt.Model }

// Dim returns the number of components, or 0 before the first answer.
func (e *Endpoint) Dim() int { return int(e.dim.Load()) }

// Embed implements embed.Embedder. Temporary failures (no connection, status 429 or
// 5xx) are tried again.
func (e *Endpoint) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) > embed.MaxBatch {
		return nil, fmt.Errorf("%d texts in one call, the maximum is %d", len(texts), embed.MaxBatch)
	}
	clean := make([]string, len(texts))
	for i, t := range texts {
		clean[i] = archive.Clip(e.opt.Redact(t), maxText)
		if strings.TrimSpace(clean[i]) == "" {
			clean[i] = "." // some endpoints reject an empty text; its vector is dropped below
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(e.opt.Attempts)*e.opt.Timeout)
	defer cancel()
	var vs [][]float32
	var err error
	if !e.single && len(clean) > 0 {
		vs, err = e.request(ctx, map[string]any{"model": e.opt.Model, "input": clean}, len(clean))
	}
	for i := 0; e.single && err == nil && i < len(clean); i++ {
		var one [][]float32
		one, err = e.request(ctx, map[string]any{"model": e.opt.Model, "prompt": clean[i]}, 1)
		vs = append(vs, one...)
	}
	if err != nil {
		return nil, err
	}
	return vs, e.normalise(texts, vs)
}

// normalise scales the vectors and checks that all have the same length.
func (e *Endpoint) normalise(texts []string, vs [][]float32) error {
	for i, v := range vs {
		if len(v) > 0 && len(v) <= maxDim {
			e.dim.CompareAndSwap(0, int64(len(v)))
		}
		if dim := e.dim.Load(); int64(len(v)) != dim || dim == 0 {
			return fmt.Errorf("the endpoint returned a vector of %d components, %d are expected", len(v), dim)
		}
		if strings.TrimSpace(texts[i]) == "" || !embed.Normalise(v) {
			vs[i] = nil
		}
	}
	return nil
}

// temporaryError is a failure that can be tried again, after the given pause.
type temporaryError struct {
	error
	after time.Duration
}

func (t temporaryError) Unwrap() error { return t.error }

// request sends a request until it succeeds, and expects n vectors.
func (e *Endpoint) request(ctx context.Context, request any, n int) ([][]float32, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("call the endpoint: %w", err)
	}
	wait := firstPause
	for attempt := 1; ; attempt++ {
		vs, err := e.send(ctx, body, n)
		var temporary temporaryError
		if err == nil || attempt == e.opt.Attempts || !errors.As(err, &temporary) || ctx.Err() != nil {
			return vs, err
		}
		if err := e.opt.Pause(ctx, min(max(wait, temporary.after), longestPause)); err != nil {
			return nil, errors.Join(temporary.error, err)
		}
		wait *= 2
	}
}

// send sends a request once.
func (e *Endpoint) send(ctx context.Context, body []byte, n int) (vs [][]float32, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.opt.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("call the endpoint: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if e.opt.Key != "" {
		req.Header.Set("Authorization", "Bearer "+e.opt.Key)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, temporaryError{error: fmt.Errorf("the endpoint does not answer: %w", err)}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, temporaryError{error: fmt.Errorf("read the endpoint's answer: %w", err)}
	}
	if resp.StatusCode != http.StatusOK {
		err := fmt.Errorf("the endpoint answers %s: %s", resp.Status, archive.Clip(strings.Join(strings.Fields(e.opt.Redact(string(data))), " "), 200))
		if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500 {
			seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // 0 if missing or a date
			return nil, temporaryError{err, time.Duration(min(seconds, 60)) * time.Second}
		}
		return nil, err
	}
	if len(data) > maxAnswer {
		return nil, fmt.Errorf("the endpoint's answer exceeds %d MB", maxAnswer>>20)
	}
	return decode(data, n)
}

// decode decodes an answer of n vectors in any of the supported protocols.
func decode(data []byte, n int) ([][]float32, error) {
	var a struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
		Embeddings [][]float32 `json:"embeddings"`
		Embedding  []float32   `json:"embedding"`
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, fmt.Errorf("the endpoint's answer is not a list of vectors: %w", err)
	}
	vs := a.Embeddings
	if len(a.Data) > 0 {
		vs = make([][]float32, len(a.Data))
		for _, d := range a.Data {
			if d.Index < 0 || d.Index >= len(vs) || vs[d.Index] != nil {
				return nil, errors.New("the endpoint's answer has wrong vector indexes")
			}
			vs[d.Index] = d.Embedding
		}
	} else if a.Embedding != nil {
		vs = [][]float32{a.Embedding}
	}
	if len(vs) != n {
		return nil, fmt.Errorf("the endpoint returned %d vectors for %d texts", len(vs), n)
	}
	return vs, nil
}
