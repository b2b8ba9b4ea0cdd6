//go:build unix

package capture_test

import (
	"os"
	"path/filepath"
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

// A link in the client's folder of a session could lead to files that are not the
// client's.
func TestLinkedFoldersAreNotFollowed(t *testing.T) {
	for _, linked := range []string{sessionA, sessionA + "/tool-results"} {
		w := newWorld(t)
		w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
		elsewhere := t.TempDir()
		must(t, os.MkdirAll(filepath.Join(elsewhere, "tool-results"), 0o700))
		for _, name := range []string{"private.txt", "tool-results/private.txt"} {
			must(t, os.WriteFile(filepath.Join(elsewhere, name), []byte("private"), 0o600))
		}
		link := filepath.Join(filepath.Dir(w.path(sessionA)), linked)
		must(t, os.MkdirAll(filepath.Dir(link), 0o700))
		must(t, os.Symlink(elsewhere, link))
		if _, err := w.capture.LogSession(t.Context(), w.source(sessionA), true); err != nil {
			t.Error(err)
		}
		if files, err := w.capture.SideFiles(sessionA); err != nil || len(files) > 0 {
			t.Errorf("%s is a link: %v is captured, %v", linked, files, err)
		}
	}
}
