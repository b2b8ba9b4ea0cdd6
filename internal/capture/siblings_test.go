package capture_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"strandline/internal/capture"
)

func TestUncapturedSiblings(t *testing.T) {
	w := newWorld(t)
	for i, name := range []string{"captured", "grown", "new", "old"} {
		w.write(w.path(name), transcriptOf(name, uint64(i+1), 1))
		if name == "captured" || name == "grown" {
			w.hook(name)
		}
	}
	w.appendTo(w.path("grown"), transcriptOf("grown", 9, 1))
	w.write(w.path("empty"), nil)
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(w.path("old"), long, long); err != nil {
		t.Fatal(err)
	}
	names := func(limit int) map[string]bool {
		left, err := w.capture.UncapturedSiblings(w.source("starting"), limit)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, l := range left {
			got[l.Session] = l.Transcript == w.path(l.Session)
		}
		return got
	}
	if got := names(10); len(got) != 3 || !got["grown"] || !got["new"] || !got["old"] {
		t.Errorf("temporary files: %v", got)
	}
	if got := names(3); got["old"] {
		t.Errorf("the oldest of four is looked at with a limit of three: %v", got)
	}
	left, err := w.capture.UncapturedSiblings(w.source("new"), 10)
	if err != nil || len(left) != 2 {
		t.Errorf("beside one of them: %v, %v", left, err)
	}
}

func TestUncapturedSiblingsMissingFolder(t *testing.T) {
	w := newWorld(t)
	if left, err := w.capture.UncapturedSiblings(w.source(sessionA), 10); err != nil || left != nil {
		t.Errorf("got %v, %v", left, err)
	}
}

// TestUncaptured counts the missing bytes of transcripts and side files, with and
// without logs of the session.
func TestUncaptured(t *testing.T) {
	w := newWorld(t)
	side := func(session, name string) string {
		return filepath.Join(filepath.Dir(w.path(session)), session, "tool-results", name)
	}
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
	w.write(side(sessionA, "one.txt"), []byte("one"))
	w.hook(sessionA)
	w.write(side(sessionA, "two.txt"), []byte("two"))
	w.write(w.path(sessionB), transcriptOf(sessionB, 2, 1))
	w.write(side(sessionB, "three.txt"), []byte("three"))
	w.write(w.path("empty"), nil)
	jobs, failed, err := capture.List(t.Context(), []string{w.client})
	if err != nil || len(failed) > 0 || len(jobs) != 6 {
		t.Fatal(len(jobs), failed, err)
	}
	var all, missing int64
	for _, j := range jobs {
		all += j.Size
		if j.Source.Path != w.path(sessionA) && filepath.Base(j.Source.Path) != "one.txt" {
			missing += j.Size
		}
	}
	want := capture.Missing{Files: 3, Sessions: 1, Bytes: missing, Total: all} // two.txt, three.txt and its transcript
	if m, err := w.capture.Uncaptured(jobs); err != nil || m != want {
		t.Errorf("%+v, want %+v; %v", m, want, err)
	}
	w.bulk()
	if m, err := w.capture.Uncaptured(jobs); err != nil || m != (capture.Missing{Total: all}) {
		t.Errorf("after an import: %+v; %v", m, err)
	}
}
