package capture_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"strandline/internal/capture"
)

func TestWaitUnchanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	w := newWorld(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				w.appendTo(path, []byte("{}\n"))
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := capture.WaitUnchanged(ctx, path, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("during writes: %v", err)
	}
	close(stop)
	<-stopped
	if err := capture.WaitUnchanged(t.Context(), path, 10*time.Millisecond); err != nil {
		t.Errorf("without writes: %v", err)
	}
	if err := capture.WaitUnchanged(t.Context(), path+".missing", 10*time.Millisecond); err != nil {
		t.Errorf("a missing file: %v", err)
	}
}
