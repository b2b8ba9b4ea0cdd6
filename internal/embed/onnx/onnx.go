// Package onnx embeds texts with a model in the ONNX format, such as
// all-MiniLM-L6-v2. The runtime lives in a helper program, strandline-onnx, so
// that this one stays free of cgo and of 45 MB of library: the helper is started
// when the first text comes, spoken to in frames, and ends with its input. It
// takes a fifth of a second to start and 170 MB, so it works for upkeep and for
// searches of people, never for a hook.
package onnx

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"strandline/internal/archive"
	"strandline/internal/embed"
)

// Options say what to run.
type Options struct {
	Helper  string // path of strandline-onnx
	Model   string // path of the .onnx file
	Vocab   string // path of its vocab.txt
	Library string // path of the ONNX Runtime library; empty: the helper looks itself
	Name    string // in vector rows; says which file it was
	Dim     int    // that the model has to have; 0: whatever it has
}

// Embedder runs a helper. Calls are answered one after the other.
type Embedder struct {
	opt Options

	mu      sync.Mutex
	dim     int
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     io.Reader
	said    *tail
	stopped bool
}

var _ embed.Embedder = (*Embedder)(nil)

// New returns an Embedder. It starts nothing yet.
func New(opt Options) *Embedder { return &Embedder{opt: opt, dim: opt.Dim} }

// Name returns the name in the options.
func (e *Embedder) Name() string { return e.opt.Name }

// Dim returns the length of the vectors, 0 if the helper has not told it yet.
func (e *Embedder) Dim() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dim
}

// Embed implements embed.Embedder. When ctx ends the helper is killed; the next
// call starts another.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) > embed.MaxBatch {
		return nil, fmt.Errorf("%d texts at once, at most %d", len(texts), embed.MaxBatch)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return nil, errors.New("the model's helper has been closed")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fresh := e.cmd == nil
	if fresh {
		if err := e.launch(); err != nil {
			return nil, err
		}
	}
	var vs [][]float32
	err := e.attended(ctx, func() (err error) {
		if fresh {
			if err := e.hello(); err != nil {
				return err
			}
		}
		if err := writeFrame(e.in, kindRequest, encodeTexts(texts)); err != nil {
			return err
		}
		vs, err = e.answer(len(texts))
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, v := range vs {
		if !embed.Normalise(v) {
			vs[i] = nil
		}
	}
	return vs, nil
}

// launch starts the helper.
func (e *Embedder) launch() error {
	args := []string{"-model", e.opt.Model, "-vocab", e.opt.Vocab}
	if e.opt.Library != "" {
		args = append(args, "-library", e.opt.Library)
	}
	// It outlives this call: attended ends it.
	cmd := exec.CommandContext(context.Background(), e.opt.Helper, args...)
	said := &tail{}
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start the model's helper: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start the model's helper: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the model's helper: %w", err)
	}
	e.cmd, e.in, e.out, e.said = cmd, in, bufio.NewReader(out), said
	return nil
}

// hello reads what the helper is.
func (e *Embedder) hello() error {
	kind, body, err := readFrame(e.out)
	if err != nil {
		return err
	}
	if kind == kindFault {
		return errors.New(sentence(body))
	}
	dim, _, err := number(body)
	if kind != kindHello || err != nil || dim < 1 || dim > maxDim {
		return fmt.Errorf("it is no helper of this version")
	}
	if e.opt.Dim > 0 && dim != e.opt.Dim {
		return fmt.Errorf("the model has vectors of %d components, %d are expected", dim, e.opt.Dim)
	}
	e.dim = dim
	return nil
}

// answer reads the vectors of n texts.
func (e *Embedder) answer(n int) ([][]float32, error) {
	kind, body, err := readFrame(e.out)
	switch {
	case err != nil:
		return nil, err
	case kind == kindFault:
		return nil, fmt.Errorf("%w: %s", errRefused, sentence(body))
	case kind != kindAnswer:
		return nil, fmt.Errorf("a frame of kind %q", kind)
	}
	return decodeVectors(body, n, e.dim)
}

// errRefused is what the helper itself reports; it goes on running.
var errRefused = errors.New("the model's helper refuses")

func sentence(b []byte) string { return archive.Clip(strings.ToValidUTF8(string(b), "?"), 300) }

// attended runs a conversation with the helper, and ends the helper when ctx ends
// or when the conversation fails.
func (e *Embedder) attended(ctx context.Context, talk func() error) error {
	done := make(chan error, 1)
	go func() { done <- talk() }()
	var err error
	select {
	case err = <-done:
		if err == nil || errors.Is(err, errRefused) {
			return err
		}
	case <-ctx.Done():
		_ = e.cmd.Process.Kill() // which ends the conversation; it may have ended already
		err = cmp.Or(ctx.Err(), <-done)
	}
	if said := e.end(true); said != "" {
		return fmt.Errorf("the model's helper failed: %w (%s)", err, said)
	}
	return fmt.Errorf("the model's helper failed: %w", err)
}

// end waits for the helper's end and returns what it wrote to its standard error.
func (e *Embedder) end(kill bool) string {
	if kill {
		_ = e.cmd.Process.Kill() // see attended
	}
	_ = e.in.Close()
	_ = e.cmd.Wait() // how it ended says less than what it wrote
	said := e.said.String()
	e.cmd, e.in, e.out, e.said = nil, nil, nil, nil
	return said
}

// Close ends the helper. Later calls fail.
func (e *Embedder) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = true
	if e.cmd != nil {
		e.end(false)
	}
	return nil
}

// tail keeps the first bytes of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[:min(len(p), 500-min(len(t.b), 500))]...)
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.b), "?"))
}
