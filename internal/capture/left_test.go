package capture_test

import (
	"os"
	"testing"
	"time"
)

func TestLeftBehind(t *testing.T) {
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
		left, err := w.capture.LeftBehind(w.source("starting"), limit)
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
		t.Errorf("left behind: %v", got)
	}
	if got := names(3); got["old"] {
		t.Errorf("the oldest of four is looked at with a limit of three: %v", got)
	}
	left, err := w.capture.LeftBehind(w.source("new"), 10)
	if err != nil || len(left) != 2 {
		t.Errorf("beside one of them: %v, %v", left, err)
	}
}

func TestLeftBehindInAFolderThatDoesNotExist(t *testing.T) {
	w := newWorld(t)
	if left, err := w.capture.LeftBehind(w.source(sessionA), 10); err != nil || left != nil {
		t.Errorf("got %v, %v", left, err)
	}
}
