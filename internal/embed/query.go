package embed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// QueryOptions configures a QueryEmbedder.
type QueryOptions struct {
	// Name is the model's name in vector rows.
	Name string
	// Open starts the model. It is called for the first query that is not cached. The
	// closer may be nil.
	Open func(ctx context.Context) (e Embedder, closer io.Closer, err error)
	// Redact removes secrets from a query before it is embedded or cached.
	Redact func(string) string
	// Cache is the path of the file with the latest query vectors, or "" for none.
	Cache string
	// Wait is the time limit of a query, including the start of the model.
	Wait time.Duration
	// Idle stops a model after this time without a query; 0 keeps it until Close.
	Idle time.Duration
	Now  func() time.Time
}

// retryAfter is the time for which a model is not used after it failed.
const retryAfter = 30 * time.Second

// QueryEmbedder embeds queries with a model that can be slow, unavailable or broken.
// It limits the time of each query, caches the vectors of the latest queries in a
// file, and does not call a model again for a while after a failure. A cancelled
// query does not stop the model, so that the next query finds it running.
type QueryEmbedder struct {
	opt QueryOptions
	// lock holds one token, whose owner may use the fields below. A channel, because
	// waiting for it has to end with a context.
	lock   chan struct{}
	inner  Embedder
	closer io.Closer
	idle   *time.Timer
	failed error     // the last failure, returned
	until  time.Time // until then
	closed bool

	running sync.WaitGroup
}

// NewQueryEmbedder returns a QueryEmbedder. It does not start the model.
func NewQueryEmbedder(opt QueryOptions) *QueryEmbedder {
	e := &QueryEmbedder{opt: opt, lock: make(chan struct{}, 1)}
	e.lock <- struct{}{}
	return e
}

// Name returns the model's name.
func (e *QueryEmbedder) Name() string { return e.opt.Name }

// Dim returns 0: the first answer shows the number of components.
func (e *QueryEmbedder) Dim() int { return 0 }

// errSlow is the failure of a model that exceeds QueryOptions.Wait.
var errSlow = errors.New("no answer in time")

// Embed implements Embedder. It embeds one text after the other.
func (e *QueryEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		v, err := e.embedOne(ctx, e.opt.Redact(text))
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (e *QueryEmbedder) embedOne(ctx context.Context, text string) ([]float32, error) {
	cache := queryCache{path: e.opt.Cache, model: e.opt.Name}
	if v, ok := cache.get(text); ok {
		return v, nil
	}
	// The model continues after ctx ends, for at most Wait.
	modelCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.opt.Wait)
	var v []float32
	var err error
	done := make(chan struct{})
	e.running.Go(func() {
		defer cancel()
		defer close(done)
		v, err = e.callModel(modelCtx, text, cache)
	})
	select {
	case <-done:
		return v, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// callModel embeds and caches one text when no other call is running.
func (e *QueryEmbedder) callModel(ctx context.Context, text string, cache queryCache) ([]float32, error) {
	select {
	case <-e.lock:
		defer func() { e.lock <- struct{}{} }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w (%v)", errSlow, e.opt.Wait)
	}
	if e.closed {
		return nil, errors.New("the model is closed")
	}
	if e.failed != nil && e.opt.Now().Before(e.until) {
		return nil, e.failed
	}
	v, err := e.openAndEmbed(ctx, text)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w (%v)", errSlow, e.opt.Wait)
	}
	if e.failed = err; err != nil {
		e.until = e.opt.Now().Add(retryAfter)
	}
	if v != nil {
		cache.put(text, v)
	}
	return v, err
}

func (e *QueryEmbedder) openAndEmbed(ctx context.Context, text string) (v []float32, err error) {
	if e.idle != nil {
		e.idle.Stop()
	}
	if e.inner == nil {
		if e.inner, e.closer, err = e.opt.Open(ctx); err != nil {
			e.inner, e.closer = nil, nil
			return nil, err
		}
	}
	vs, err := e.inner.Embed(ctx, []string{text})
	if e.opt.Idle > 0 {
		e.idle = time.AfterFunc(e.opt.Idle, e.stopIdle)
	}
	if err != nil {
		return nil, err
	}
	if len(vs) != 1 {
		return nil, fmt.Errorf("%d vectors for one query", len(vs))
	}
	return vs[0], nil
}

// stopIdle stops the model unless a query is running.
func (e *QueryEmbedder) stopIdle() {
	select {
	case <-e.lock:
		_ = e.stop() // the next query starts another model and returns its error
		e.lock <- struct{}{}
	default:
	}
}

// stop closes the model if it is open.
func (e *QueryEmbedder) stop() error {
	closer := e.closer
	e.inner, e.closer = nil, nil
	if closer == nil {
		return nil
	}
	return closer.Close()
}

// Close waits for running queries and stops the model. Later queries fail.
func (e *QueryEmbedder) Close() error {
	e.running.Wait()
	<-e.lock
	defer func() { e.lock <- struct{}{} }()
	e.closed = true
	if e.idle != nil {
		e.idle.Stop()
	}
	return e.stop()
}
