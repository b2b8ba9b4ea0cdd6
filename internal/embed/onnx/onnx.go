// Package onnx embeds texts with a model in the ONNX format, such as
// all-MiniLM-L6-v2, and manages the files of such models.
//
// The runtime is in a helper program, strandline-onnx, which keeps cgo and 45 MB of
// library out of the main program. The helper starts with the first text and exits
// with its input. It takes 0.2 s to start and uses 170 MB; it serves maintenance and
// searches, never a hook.
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

// Options configures an Embedder.
type Options struct {
	Helper  string // path of strandline-onnx
	Model   string // path of the .onnx file
	Vocab   string // path of its vocab.txt
	Library string // path of the ONNX Runtime library, or "" to use the helper's search
	Name    string // in vector rows; includes the model file's checksum
	Dim     int    // required number of components, or 0
}

// Embedder runs a helper. It processes one call at a time.
type Embedder struct {
	opt Options

	mu     sync.Mutex
	dim    int
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.Reader
	stderr *firstBytes
	closed bool
}

var _ embed.Embedder = (*Embedder)(nil)

// New returns an Embedder. It does not start the helper.
func New(opt Options) *Embedder { return &Embedder{opt: opt, dim: opt.Dim} }

// Name returns the name in the options.
func (e *Embedder) Name() string { return e.opt.Name }

// Dim returns the number of components, or 0 before the helper's first answer.
func (e *Embedder) Dim() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dim
}

// Embed implements embed.Embedder. When ctx ends, the helper is killed; the next call
// starts another.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) > embed.MaxBatch {
		return nil, fmt.Errorf("%d texts in one call, the maximum is %d", len(texts), embed.MaxBatch)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errors.New("the model's helper is closed")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	started := e.cmd == nil
	if started {
		if err := e.start(); err != nil {
			return nil, fmt.Errorf("start the model's helper: %w", err)
		}
	}
	var vs [][]float32
	err := e.exchange(ctx, func() (err error) {
		if started {
			if err := e.readHello(); err != nil {
				return err
			}
		}
		if err := writeFrame(e.in, kindRequest, encodeTexts(texts)); err != nil {
			return err
		}
		vs, err = e.readAnswer(len(texts))
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

// start starts the helper.
func (e *Embedder) start() error {
	args := []string{"-model", e.opt.Model, "-vocab", e.opt.Vocab}
	if e.opt.Library != "" {
		args = append(args, "-library", e.opt.Library)
	}
	// The helper outlives this call; exchange or Close ends it.
	cmd := exec.CommandContext(context.Background(), e.opt.Helper, args...)
	stderr := &firstBytes{}
	cmd.Stderr = stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := cmp.Or(inErr, outErr); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	e.cmd, e.in, e.out, e.stderr = cmd, in, bufio.NewReader(out), stderr
	return nil
}

// readHello reads the helper's first frame.
func (e *Embedder) readHello() error {
	kind, body, err := readFrame(e.out)
	if err != nil {
		return err
	}
	if kind == kindFault {
		return errors.New(message(body))
	}
	dim, _, err := cutNumber(body)
	if kind != kindHello || err != nil || dim < 1 || dim > maxDim {
		return errors.New("the program is not a helper of this version")
	}
	if e.opt.Dim > 0 && dim != e.opt.Dim {
		return fmt.Errorf("the model's vectors have %d components, %d are expected", dim, e.opt.Dim)
	}
	e.dim = dim
	return nil
}

// readAnswer reads the vectors of n texts.
func (e *Embedder) readAnswer(n int) ([][]float32, error) {
	kind, body, err := readFrame(e.out)
	switch {
	case err != nil:
		return nil, err
	case kind == kindFault:
		return nil, fmt.Errorf("%w: %s", errRefused, message(body))
	case kind != kindAnswer:
		return nil, fmt.Errorf("unexpected frame of kind %q", kind)
	}
	return decodeVectors(body, n, e.dim)
}

// errRefused marks an error of a request, after which the helper keeps running.
var errRefused = errors.New("the model's helper refuses")

func message(b []byte) string { return archive.Clip(strings.ToValidUTF8(string(b), "?"), 300) }

// exchange runs talk, and kills the helper if ctx ends or talk fails.
func (e *Embedder) exchange(ctx context.Context, talk func() error) error {
	done := make(chan error, 1)
	go func() { done <- talk() }()
	var err error
	select {
	case err = <-done:
		if err == nil || errors.Is(err, errRefused) {
			return err
		}
	case <-ctx.Done():
		_ = e.cmd.Process.Kill() // ends talk; fails if the helper has exited
		err = cmp.Or(ctx.Err(), <-done)
	}
	_ = e.cmd.Process.Kill() // as above
	if stderr := e.wait(); stderr != "" {
		err = fmt.Errorf("%w (%s)", err, stderr)
	}
	return fmt.Errorf("the model's helper failed: %w", err)
}

// wait closes the helper's input, waits for its exit, and returns the start of its
// standard error.
func (e *Embedder) wait() string {
	_ = e.in.Close()
	_ = e.cmd.Wait() // standard error says more than the exit status
	stderr := strings.TrimSpace(strings.ToValidUTF8(string(*e.stderr), "?"))
	e.cmd, e.in, e.out, e.stderr = nil, nil, nil, nil
	return stderr
}

// Close ends the helper. Later calls fail.
func (e *Embedder) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.cmd != nil {
		e.wait()
	}
	return nil
}

// firstBytes keeps the first 500 bytes that are written to it. Read it only after the
// writing process was waited for.
type firstBytes []byte

func (f *firstBytes) Write(p []byte) (int, error) {
	*f = append(*f, p[:min(len(p), 500-len(*f))]...)
	return len(p), nil
}
