package capture_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/state"
)

// TestManifestIsWrittenByOneProcess: Update reads, adds and replaces; two at a time would list what the other dropped.
func TestManifestIsWrittenByOneProcess(t *testing.T) {
	w := newWorld(t)
	w.family()
	lock, err := state.TryLock(filepath.Join(w.home, "manifest.lock"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := w.capture.Manifest().Update(ctx, nil, nil); archive.ErrorCode(err) != archive.CodeBusy {
		t.Errorf("while another process updates: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if err := w.capture.Manifest().Update(t.Context(), nil, nil); err != nil {
		t.Error(err)
	}
}

func TestLostLogText(t *testing.T) {
	for path, want := range map[string]string{
		"/home/log/claude/-p/a.jsonl.zst":    "12 bytes of the transcript",
		"/home/journal/2026-11.jsonl.zst":    "12 bytes of the journal",
		"/home/log/claude/-p/a/x/1.json.zst": "12 bytes of the transcript",
	} {
		if got := (capture.LostLog{Path: filepath.FromSlash(path), Had: 12}).String(); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
}
