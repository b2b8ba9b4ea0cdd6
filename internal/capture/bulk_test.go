package capture_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/capture"
)

// bulk imports all files of the client.
func (w *world) bulk(paths ...string) capture.Report {
	w.t.Helper()
	ctx := context.Background()
	if len(paths) == 0 {
		paths = []string{w.client}
	}
	jobs, failed, err := w.capture.Discover(ctx, paths)
	if err != nil || len(failed) > 0 {
		w.t.Fatal(err, failed)
	}
	var report capture.Report
	w.withStore("index.db", func(s storeType) {
		if report, err = w.capture.Bulk(ctx, s, s, jobs, nil); err != nil {
			w.t.Fatal(err)
		}
	})
	return report
}

func TestImportEqualsHooksAndReindex(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionB), transcriptOf(sessionB, 2, 3))
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 5))
	w.write(filepath.Join(w.client, "-home-dev-shop", sessionA, "tool-results", "x.txt"), []byte("output"))
	w.write(filepath.Join(w.client, "-home-dev-shop", "notes.md"), []byte("no transcript"))
	report := w.bulk()
	if report.Done != 3 || report.Sessions != 2 || report.Added != report.Bytes || len(report.Failed) > 0 {
		t.Errorf("report %+v", report)
	}
	imported := w.dump("index.db")
	if got := w.reindex("other.db"); got != imported {
		t.Errorf("reindex: %s", firstDifference(got, imported))
	}
	again := w.bulk()
	if again.Added != 0 || again.Sessions != 0 || w.dump("index.db") != imported {
		t.Errorf("a second import: %+v", again)
	}
	sameBytes(t, "log", w.export(sessionA, 0), transcriptOf(sessionA, 1, 5))
}

// TestDiscoverOrder checks that sessions are in the order in which they began, so that a
// fork comes after the session it copied.
func TestDiscoverOrder(t *testing.T) {
	w := newWorld(t)
	w.write(w.path("zzz-older"), transcriptOf("zzz-older", 9, 1)) // the seed is its age
	w.write(w.path("aaa-newer"), transcriptOf("aaa-newer", 1, 1))
	jobs, _, err := w.capture.Discover(t.Context(), []string{w.client, w.path("aaa-newer")})
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, j := range jobs {
		order = append(order, j.Source.Session)
	}
	if got := strings.Join(order, " "); got != "zzz-older aaa-newer" {
		t.Errorf("order: %s", got)
	}
}

// TestListEqualsDiscover checks that List finds the files of Discover without opening
// them, and unreadable ones as well.
func TestListEqualsDiscover(t *testing.T) {
	w := newWorld(t)
	w.write(w.path("zzz-older"), transcriptOf("zzz-older", 9, 1))
	w.write(w.path("aaa-newer"), transcriptOf("aaa-newer", 1, 1))
	w.write(filepath.Join(w.client, "-home-dev-shop", "aaa-newer", "subagents", "agent-a1.jsonl"), transcriptOf("aaa-newer", 1, 1))
	w.write(filepath.Join(w.client, "-home-dev-shop", "notes.md"), []byte("no transcript"))
	list := func(jobs []capture.Job, failed []capture.FileError, err error) (out []string) {
		t.Helper()
		if err != nil || len(failed) > 0 {
			t.Fatal(err, failed)
		}
		for _, j := range jobs {
			out = append(out, fmt.Sprintf("%s %s %d", filepath.Base(j.Source.Path), j.Source.Session, j.Size))
		}
		return out
	}
	got := list(capture.List(t.Context(), []string{w.client, w.path("aaa-newer")}))
	if len(got) != 3 || !strings.HasPrefix(got[0], "aaa-newer") || !strings.HasPrefix(got[1], "agent-a1") || !strings.HasPrefix(got[2], "zzz-older") {
		t.Errorf("listed: %q", got)
	}
	want := list(w.capture.Discover(t.Context(), []string{w.client}))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("listed %q, an import finds %q", got, want)
	}
	if err := os.Chmod(w.path("zzz-older"), 0); err != nil {
		t.Fatal(err)
	}
	if unread := list(capture.List(t.Context(), []string{w.client})); len(unread) != 3 {
		t.Errorf("of unreadable files it lists %q", unread)
	}
	if _, _, err := capture.List(t.Context(), []string{filepath.Join(w.client, "nowhere")}); archive.ErrorCode(err) != archive.CodeNotFound {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestImportContinuesAfterBadFile(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
	w.write(w.path(sessionB), transcriptOf(sessionB, 2, 1))
	jobs, _, err := w.capture.Discover(t.Context(), []string{w.client})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.path(sessionB)); err != nil {
		t.Fatal(err)
	}
	w.withStore("index.db", func(s storeType) {
		report, err := w.capture.Bulk(t.Context(), s, s, jobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Failed) != 1 || report.Failed[0].Path != w.path(sessionB) || report.Done != 2 || report.Sessions != 1 {
			t.Errorf("report %+v", report)
		}
	})
}

// TestForkedRowsAreIndexedOnce checks that a fork's copies of rows belong to the first
// session, after an import and after a rebuild.
func TestForkedRowsAreIndexedOnce(t *testing.T) {
	w := newWorld(t)
	first := transcriptOf(sessionA, 5, 3)
	w.write(w.path(sessionA), first)
	copied := bytes.ReplaceAll(first, []byte(sessionA), []byte(sessionB))
	w.write(w.path(sessionB), append(copied, transcriptOf(sessionB, 6, 1)...))
	w.bulk()
	w.withStore("index.db", func(s storeType) {
		turns, err := s.Turns(t.Context(), archive.Span{Session: sessionB})
		if err != nil {
			t.Fatal(err)
		}
		if len(turns) != 4 || turns[0].Copy == nil || turns[0].Copy.Session != sessionA || turns[3].Copy != nil {
			t.Errorf("turns of the fork: %+v", turns)
		}
		hits, err := s.Search(t.Context(), archive.Query{Terms: []archive.Term{{Text: "testretry1", Weight: 1}}, Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			if h.Session != sessionA {
				t.Errorf("a copy is indexed: %s/%d", h.Session, h.Turn)
			}
		}
		fork, err := s.Session(t.Context(), sessionB)
		if err != nil || fork.Parent != sessionA || fork.Relation != archive.RelationFork {
			t.Errorf("the fork: %+v, %v", fork, err)
		}
	})
	w.appendTo(w.path(sessionB), transcriptOf(sessionB, 7, 1)) // only its own rows
	w.hook(sessionB)
	if got, want := w.reindex("other.db"), w.dump("index.db"); got != want {
		t.Errorf("reindex: %s", firstDifference(got, want))
	}
}

func TestCancelledImportContinues(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 5))
	w.write(w.path(sessionB), transcriptOf(sessionB, 2, 5))
	jobs, _, err := w.capture.Discover(t.Context(), []string{w.client})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.withStore("index.db", func(s storeType) {
		_, err := w.capture.Bulk(ctx, s, s, jobs, func(p capture.Progress) { cancel() })
		if err == nil {
			t.Error("a cancelled import reports success")
		}
	})
	w.bulk()
	if got, want := w.dump("index.db"), w.reindex("other.db"); got != want {
		t.Errorf("index: %s", firstDifference(got, want))
	}
	sameBytes(t, "log", w.export(sessionB, 0), transcriptOf(sessionB, 2, 5))
}
