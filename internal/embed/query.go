package embed

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"
	"time"

	"strandline/internal/state"
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

// The file of cached queries contains no text. A query's key is the first bytes of a
// SHA-256 of the model's name and the redacted query:
//
//	"STRQRY1\n", u32 components of each vector,
//	for each query, newest first { 16 bytes key, f32 components },
//	u32 checksum of everything before it
//
// All numbers are little endian. The file is derived; a damaged one is ignored.
const (
	cacheMagic   = "STRQRY1\n"
	keySize      = 16
	cacheEntries = 128
	maxQueryDim  = 1 << 14
	// maxCacheSize is the largest file that is read.
	maxCacheSize = len(cacheMagic) + 4 + cacheEntries*(keySize+4*maxQueryDim) + 4
)

// queryCache is the file with the latest query vectors of a model.
type queryCache struct{ path, model string }

// cacheEntry is one cached query.
type cacheEntry struct {
	key [keySize]byte
	v   []float32
}

func (c queryCache) key(text string) (key [keySize]byte) {
	sum := sha256.Sum256([]byte(c.model + "\x00" + text))
	copy(key[:], sum[:])
	return key
}

// get returns the vector of a query.
func (c queryCache) get(text string) ([]float32, bool) {
	key := c.key(text)
	for _, e := range c.load() {
		if e.key == key {
			return e.v, true
		}
	}
	return nil, false
}

// put adds a query in front. If two processes write at the same time, one of the
// queries is lost and embedded again when it recurs.
func (c queryCache) put(text string, v []float32) {
	if c.path == "" || len(v) > maxQueryDim {
		return
	}
	entries := []cacheEntry{{c.key(text), v}}
	for _, e := range c.load() {
		if len(entries) < cacheEntries && e.key != entries[0].key && len(e.v) == len(v) {
			entries = append(entries, e)
		}
	}
	_ = state.Replace(c.path, encodeCache(entries)) // an uncached query is only slower
}

// load returns the entries of the file, or nil if there is none or it is damaged.
func (c queryCache) load() []cacheEntry {
	if c.path == "" {
		return nil
	}
	if info, err := os.Stat(c.path); err != nil || info.Size() > int64(maxCacheSize) {
		return nil
	}
	data, _ := os.ReadFile(c.path)
	return decodeCache(data)
}

// encodeCache encodes entries whose vectors have equal length.
func encodeCache(entries []cacheEntry) []byte {
	le := binary.LittleEndian
	b := append([]byte(nil), cacheMagic...)
	b = le.AppendUint32(b, uint32(len(entries[0].v)))
	for _, e := range entries {
		b = append(b, e.key[:]...)
		b, _ = binary.Append(b, le, e.v) // cannot fail for numbers
	}
	return le.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func decodeCache(b []byte) (entries []cacheEntry) {
	le := binary.LittleEndian
	head := len(cacheMagic) + 4
	if len(b) < head+4 || string(b[:len(cacheMagic)]) != cacheMagic || le.Uint32(b[len(b)-4:]) != crc32.ChecksumIEEE(b[:len(b)-4]) {
		return nil
	}
	dim := int(le.Uint32(b[len(cacheMagic):]))
	b = b[head : len(b)-4]
	size := keySize + 4*dim
	if dim < 1 || dim > maxQueryDim || len(b)%size != 0 {
		return nil
	}
	for ; len(b) > 0; b = b[size:] {
		e := cacheEntry{v: make([]float32, dim)}
		copy(e.key[:], b)
		_, _ = binary.Decode(b[keySize:], le, e.v) // cannot fail, b is long enough
		entries = append(entries, e)
	}
	return entries
}
