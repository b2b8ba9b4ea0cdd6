package embed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// model is an embedder that records its calls and can block.
type model struct {
	asked  []string
	opened int
	closed atomic.Int32  // also closed by a timer
	err    error         // of Embed
	open   error         // of opening
	hold   chan struct{} // Embed waits until it is closed
	none   bool          // it returns no vectors
}

func (*model) Name() string { return "m" }
func (*model) Dim() int     { return 2 }

func (m *model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	m.asked = append(m.asked, texts...)
	if m.hold != nil {
		select {
		case <-m.hold:
		case <-ctx.Done():
			return nil, fmt.Errorf("killed: %w", ctx.Err())
		}
	}
	if m.err != nil {
		return nil, m.err
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if !m.none {
			out[i] = []float32{float32(len(t)), 1}
		}
	}
	return out, nil
}

func (m *model) Close() error { m.closed.Add(1); return nil }

func (m *model) options(cache string) QueryOptions {
	return QueryOptions{
		Name: "m", Cache: cache, Wait: 2 * time.Second, Now: time.Now,
		Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") },
		Open: func(context.Context) (Embedder, io.Closer, error) {
			m.opened++
			return m, m, m.open
		},
	}
}

func askModel(t *testing.T, e *QueryEmbedder, text string) []float32 {
	t.Helper()
	vs, err := e.Embed(t.Context(), []string{text})
	if err != nil || len(vs) != 1 {
		t.Fatalf("%q: %v, %v", text, vs, err)
	}
	return vs[0]
}

func end(t *testing.T, e *QueryEmbedder) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestQueryIsEmbeddedOnce(t *testing.T) {
	m, cache := &model{}, filepath.Join(t.TempDir(), "vectors", "queries-m")
	first := NewQueryEmbedder(m.options(cache))
	v := askModel(t, first, "why does hunter2 not work")
	end(t, first)
	if m.closed.Load() != 1 || !slices.Equal(m.asked, []string{"why does [secret] not work"}) {
		t.Errorf("asked %q, closed %d times", m.asked, m.closed.Load())
	}
	// Another process does not start the model.
	second := NewQueryEmbedder(m.options(cache))
	defer end(t, second)
	if again := askModel(t, second, "why does hunter2 not work"); !slices.Equal(again, v) || m.opened != 1 {
		t.Errorf("%v after %v, opened %d times", again, v, m.opened)
	}
	data, err := os.ReadFile(cache)
	if err != nil || bytes.Contains(data, []byte("hunter2")) || bytes.Contains(data, []byte("work")) {
		t.Errorf("the file holds %q (%v)", data, err)
	}
	// Another model does not use the cached vector.
	opt := m.options(cache)
	opt.Name = "n"
	third := NewQueryEmbedder(opt)
	defer end(t, third)
	askModel(t, third, "why does hunter2 not work")
	if len(m.asked) != 2 {
		t.Errorf("asked %q", m.asked)
	}
}

func TestQueryWithoutAKnownWord(t *testing.T) {
	m := &model{none: true}
	e := NewQueryEmbedder(m.options(filepath.Join(t.TempDir(), "q")))
	defer end(t, e)
	if v := askModel(t, e, "☃"); v != nil {
		t.Errorf("%v", v)
	}
	askModel(t, e, "☃")
	if len(m.asked) != 2 {
		t.Errorf("nothing was remembered as something: asked %q", m.asked)
	}
}

func TestSlowModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{hold: make(chan struct{})}
		e := NewQueryEmbedder(m.options(""))
		defer end(t, e)
		start := time.Now()
		_, err := e.Embed(t.Context(), []string{"a"})
		if !errors.Is(err, errSlow) || !strings.Contains(err.Error(), "2s") || time.Since(start) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		// It is not called for a while, then again.
		if _, err := e.Embed(t.Context(), []string{"b"}); !errors.Is(err, errSlow) || len(m.asked) != 1 || time.Since(start) != 2*time.Second {
			t.Errorf("%v; asked %q", err, m.asked)
		}
		time.Sleep(retryAfter)
		close(m.hold)
		if v := askModel(t, e, "c"); v == nil {
			t.Error("no vector although the model is back")
		}
	})
}

// A cancelled query does not stop the model.
func TestCancelledQueryKeepsTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{hold: make(chan struct{})}
		e := NewQueryEmbedder(m.options(filepath.Join(t.TempDir(), "q")))
		defer end(t, e)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := e.Embed(ctx, []string{"logi"})
			done <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		close(m.hold)
		askModel(t, e, "login")
		askModel(t, e, "logi") // cached meanwhile
		if m.opened != 1 || m.closed.Load() != 0 || !slices.Equal(m.asked, []string{"logi", "login"}) {
			t.Errorf("opened %d times, closed %d times, asked %q", m.opened, m.closed.Load(), m.asked)
		}
	})
}

func TestFailures(t *testing.T) {
	for name, m := range map[string]*model{
		"of opening": {open: errors.New("out of order")}, "of embedding": {err: errors.New("out of order")},
	} {
		t.Run(name, func(t *testing.T) {
			opt := m.options("")
			var late atomic.Int64
			opt.Now = func() time.Time { return time.Unix(late.Load(), 0) }
			e := NewQueryEmbedder(opt)
			for range 2 {
				if _, err := e.Embed(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), "out of order") {
					t.Errorf("%v", err)
				}
			}
			if m.opened != 1 {
				t.Errorf("tried %d times within half a minute", m.opened)
			}
			late.Store(31)
			m.err, m.open = nil, nil
			askModel(t, e, "a")
			end(t, e)
			if _, err := e.Embed(t.Context(), []string{"b"}); err == nil || !strings.Contains(err.Error(), "closed") {
				t.Errorf("after its end: %v", err)
			}
		})
	}
}

func TestIdleModelIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{}
		opt := m.options("")
		opt.Idle = time.Minute
		e := NewQueryEmbedder(opt)
		askModel(t, e, "a")
		time.Sleep(50 * time.Second)
		askModel(t, e, "b")
		time.Sleep(50 * time.Second)
		if m.closed.Load() != 0 {
			t.Error("closed although it was asked meanwhile")
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if m.closed.Load() != 1 {
			t.Errorf("closed %d times", m.closed.Load())
		}
		askModel(t, e, "c")
		end(t, e)
		if m.opened != 2 || m.closed.Load() != 2 {
			t.Errorf("opened %d times, closed %d times", m.opened, m.closed.Load())
		}
	})
}
