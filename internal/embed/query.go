// Package query embeds what is searched for, by a model that may be slow, away or
// broken: it waits so long and no longer, remembers the vectors of the latest
// queries in a file, and leaves a model that failed alone for a while.
package embed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// QueryOptions say what is asked and how patiently.
type QueryOptions struct {
	// Name is the model's in vector rows.
	Name string
	// Open makes the model ready. It is called when the first query comes that is
	// not remembered; closer may be nil.
	Open func(ctx context.Context) (e Embedder, closer io.Closer, err error)
	// Redact removes secrets from a query before anything else is done with it.
	Redact func(string) string
	// Cache is the file of remembered queries; empty: none are remembered.
	Cache string
	// Wait is how long a query waits, the model's start included.
	Wait time.Duration
	// Idle ends a model that was asked nothing for so long; 0 keeps it until Close.
	Idle time.Duration
	Now  func() time.Time
}

// retry is how long a model that failed is left alone.
const retry = 30 * time.Second

// QueryEmbedder embeds queries. A query that is given up, because its context ends,
// does not end the model: the next one may find it started.
type QueryEmbedder struct {
	opt QueryOptions
	// turn holds one token: who has it may use the fields below.
	turn  chan struct{}
	inner Embedder
	close io.Closer
	idle  *time.Timer
	// failed is the last failure, and until is how long it counts.
	failed error
	until  time.Time
	shut   bool

	asking sync.WaitGroup
}

var _ Embedder = (*QueryEmbedder)(nil)

// NewQueryEmbedder returns an Embedder. It opens nothing yet.
func NewQueryEmbedder(opt QueryOptions) *QueryEmbedder {
	e := &QueryEmbedder{opt: opt, turn: make(chan struct{}, 1)}
	e.turn <- struct{}{}
	return e
}

// Name returns the model's name.
func (e *QueryEmbedder) Name() string { return e.opt.Name }

// Dim returns 0: how long vectors are, the first one tells.
func (e *QueryEmbedder) Dim() int { return 0 }

// errSlow is the failure of a model that does not answer in time.
var errSlow = errors.New("no answer in time")

// Embed implements embed.Embedder, one text after the other.
func (e *QueryEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		v, err := e.one(ctx, e.opt.Redact(text))
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

type answer struct {
	v   []float32
	err error
}

func (e *QueryEmbedder) one(ctx context.Context, text string) ([]float32, error) {
	if v, ok := remembered(e.opt.Cache, e.opt.Name, text); ok {
		return v, nil
	}
	// What is under way goes on when ctx ends, but not for longer than Wait.
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.opt.Wait)
	done := make(chan answer, 1)
	e.asking.Go(func() {
		defer cancel()
		v, err := e.ask(wait, text)
		done <- answer{v, err}
	})
	select {
	case a := <-done:
		return a.v, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask has the model embed one text, when it is this one's turn.
func (e *QueryEmbedder) ask(ctx context.Context, text string) ([]float32, error) {
	select {
	case <-e.turn:
		defer func() { e.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w (%v)", errSlow, e.opt.Wait)
	}
	if e.shut {
		return nil, errors.New("it has been closed")
	}
	if e.failed != nil && e.opt.Now().Before(e.until) {
		return nil, e.failed
	}
	v, err := e.embed(ctx, text)
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w (%v)", errSlow, e.opt.Wait)
		}
		e.failed, e.until = err, e.opt.Now().Add(retry)
		return nil, err
	}
	e.failed = nil
	if v != nil {
		remember(e.opt.Cache, e.opt.Name, text, v)
	}
	return v, nil
}

func (e *QueryEmbedder) embed(ctx context.Context, text string) ([]float32, error) {
	if e.idle != nil {
		e.idle.Stop()
	}
	if e.inner == nil {
		inner, closer, err := e.opt.Open(ctx)
		if err != nil {
			return nil, err
		}
		e.inner, e.close = inner, closer
	}
	vs, err := e.inner.Embed(ctx, []string{text})
	if e.opt.Idle > 0 {
		e.idle = time.AfterFunc(e.opt.Idle, e.rest)
	}
	if err != nil {
		return nil, err
	}
	if len(vs) != 1 {
		return nil, fmt.Errorf("%d vectors for one query", len(vs))
	}
	return vs[0], nil
}

// rest ends a model that nobody asks.
func (e *QueryEmbedder) rest() {
	select {
	case <-e.turn:
		_ = e.end() // the next query opens another, and says what is wrong with it
		e.turn <- struct{}{}
	default: // somebody asks just now
	}
}

// end closes the model, if it is open.
func (e *QueryEmbedder) end() error {
	closer := e.close
	e.inner, e.close = nil, nil
	if closer == nil {
		return nil
	}
	return closer.Close()
}

// Close ends the model, when what is under way has ended. Later queries fail.
func (e *QueryEmbedder) Close() error {
	e.asking.Wait()
	<-e.turn
	defer func() { e.turn <- struct{}{} }()
	e.shut = true
	if e.idle != nil {
		e.idle.Stop()
	}
	return e.end()
}
