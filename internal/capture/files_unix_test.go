//go:build unix

package capture_test

import (
	"os"
	"syscall"
	"testing"

	"strandline/internal/archive"
)

// inodeOf returns a file's inode.
func inodeOf(t *testing.T, path string) uint64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatalf("%T has no inode", info.Sys())
	}
	return st.Ino
}

// TestFIFO checks that a FIFO at a transcript's path does not block a hook.
func TestFIFO(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionB), transcriptOf(sessionB, 1, 1))
	must(t, syscall.Mkfifo(w.path(sessionA), 0o600))
	if _, err := w.capture.LogSession(t.Context(), w.source(sessionA), true); archive.ErrorCode(err) != archive.CodeInvalid {
		t.Errorf("a hook: %v", err)
	}
	jobs, failed, err := w.capture.Discover(t.Context(), []string{w.client, w.path(sessionA)})
	if err != nil || len(jobs) != 1 || len(failed) != 0 {
		t.Errorf("an import finds %d files, failed %v, %v", len(jobs), failed, err)
	}
	if left, err := w.capture.UncapturedSiblings(w.source("starting"), 10); err != nil || len(left) != 1 || left[0].Session != sessionB {
		t.Errorf("temporary files: %v, %v", left, err)
	}
}
