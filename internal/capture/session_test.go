package capture_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
)

// TestUnchangedSideFiles checks that side files logged after their last change are not
// read again, and that others are.
func TestUnchangedSideFiles(t *testing.T) {
	before, after := []byte("the output is 1"), []byte("the output is 2")
	now := time.Now()
	for _, c := range []struct {
		name    string
		text    []byte
		written time.Time
		again   bool
	}{
		{"written long before it was logged", after, now.Add(-time.Hour), false}, // no client changes a file and sets its time back
		{"of another size, whatever its time", append(after, '!'), now.Add(-time.Hour), true},
		{"written just now", after, now.Add(time.Minute), true},
		{"within what clocks may differ by", after, now.Add(-time.Second), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			path := filepath.Join(w.client, "-home-dev-shop", sessionA, "tool-results", "b1.txt")
			w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
			w.write(path, before)
			w.hook(sessionA)
			log := sessionlog.Layout{Root: w.home}.Child("claude", "-home-dev-shop", sessionA, "tool-results/b1.txt", 1)
			must(t, os.Chtimes(log, now, now))
			w.write(path, c.text)
			must(t, os.Chtimes(path, c.written, c.written))
			w.hook(sessionA)
			var got bytes.Buffer
			must(t, w.capture.ExportFile(sessionA, "tool-results/b1.txt", &got))
			if again := bytes.Equal(got.Bytes(), c.text); again != c.again {
				t.Errorf("kept %q, read again: %v", got.String(), again)
			}
		})
	}
}

// TestLoggedSidesAreNotReadAgain checks that a hook reads no log of a side file that is
// unchanged, however many there are. A call without the hook's limit reads all.
func TestLoggedSidesAreNotReadAgain(t *testing.T) {
	w := newWorld(t)
	w.family()
	w.capture.MaxLog = 1 << 20
	log := sessionlog.Layout{Root: w.home}.Child("claude", "-home-dev-shop", sessionA, "tool-results/b1.txt", 1)
	must(t, os.Remove(log))
	capturing := func(c capture.Capture, want string) {
		t.Helper()
		got, err := c.LogSession(t.Context(), w.source(sessionA), true)
		if err != nil || got.Added != int64(len(want)) {
			t.Errorf("captured %+v, %v, want %d bytes", got, err, len(want))
		}
	}
	capturing(*w.capture, "")
	w.appendTo(filepath.Join(w.client, "-home-dev-shop", sessionA, "tool-results", "b1.txt"), []byte("more\n"))
	capturing(*w.capture, "a long output\nmore\n")
	must(t, os.Remove(log))
	capturing(*w.capture, "")
	unlimited := *w.capture
	unlimited.MaxLog = 0
	capturing(unlimited, "a long output\nmore\n")
	capturing(*w.capture, "")
}

// A hook reads only the names of a thousand side files. It logs new ones; the catch-up logs
// what was added to the others.
func TestManySidesAreReadByName(t *testing.T) {
	w := newWorld(t)
	w.family()
	dir := filepath.Join(w.client, "-home-dev-shop", sessionA, "tool-results")
	for i := range capture.MaxCompared {
		w.write(filepath.Join(dir, fmt.Sprintf("c%d.txt", i)), []byte("output"))
	}
	hook := *w.capture
	hook.MaxLog = 1 << 20
	adds := func(c capture.Capture, want int) {
		t.Helper()
		got, err := c.LogSession(t.Context(), w.source(sessionA), true)
		if err != nil || got.Added != int64(want) {
			t.Errorf("captured %+v, %v, want %d bytes", got, err, want)
		}
	}
	adds(hook, capture.MaxCompared*len("output"))
	w.appendTo(filepath.Join(dir, "c1.txt"), []byte("more"))
	w.write(filepath.Join(dir, "new.txt"), []byte("new output"))
	adds(hook, len("new output"))
	adds(hook, 0)
	adds(*w.capture, len("more"))
	adds(hook, 0)
}

// TestCaptureContinuesAfterBadFile checks that a file that cannot be logged does not
// block the others.
func TestCaptureContinuesAfterBadFile(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
	dir := filepath.Join(w.client, "-home-dev-shop", sessionA, "tool-results")
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		w.write(filepath.Join(dir, name), []byte("output "+name))
	}
	layout := sessionlog.Layout{Root: w.home}
	must(t, os.MkdirAll(layout.Child("claude", "-home-dev-shop", sessionA, "tool-results/b.txt", 1), 0o700))
	got, err := w.capture.LogSession(t.Context(), w.source(sessionA), true)
	if err == nil || !strings.Contains(err.Error(), "b.txt") {
		t.Errorf("error %v", err)
	}
	if want := int64(len(transcriptOf(sessionA, 1, 1)) + 2*len("output a.txt")); got.Added != want || len(got.Sessions) != 1 {
		t.Errorf("captured %+v, want %d bytes", got, want)
	}
	var c strings.Builder
	if err := w.capture.ExportFile(sessionA, "tool-results/c.txt", &c); err != nil || c.String() != "output c.txt" {
		t.Errorf("the next file: %q, %v", c.String(), err)
	}
}

func TestCancelledCapture(t *testing.T) {
	w := newWorld(t)
	w.family()
	w.write(filepath.Join(w.client, "-home-dev-shop", sessionA, "tool-results", "new.txt"), []byte("late"))
	ctx, cancel := context.WithCancelCause(t.Context())
	late := errors.New("too late")
	cancel(late)
	got, err := w.capture.LogSession(ctx, w.source(sessionA), true)
	if !got.Deferred || !errors.Is(err, late) {
		t.Errorf("captured %+v, %v", got, err)
	}
}

func TestMaxLog(t *testing.T) {
	first, whole := transcriptOf(sessionA, 1, 1), transcriptOf(sessionA, 1, 2)
	if !bytes.HasPrefix(whole, first[:len(first)/2]) {
		t.Fatal("the longer session does not begin like the shorter")
	}
	half := len(first) / 2
	for _, c := range []struct {
		name     string
		logged   int // before
		limit    int64
		deferred bool
	}{
		{"all of it", 0, int64(len(whole)), false},
		{"one byte less", 0, int64(len(whole)) - 1, true},
		{"only new bytes count", half, int64(len(whole) - half), false},
		{"one byte less of it", half, int64(len(whole)-half) - 1, true},
		{"no limit", 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if c.logged > 0 {
				w.write(w.path(sessionA), whole[:c.logged])
				w.hook(sessionA)
			}
			w.write(w.path(sessionA), whole)
			w.capture.MaxLog = c.limit
			got, err := w.capture.LogSession(t.Context(), w.source(sessionA), true)
			if err != nil || got.Deferred != c.deferred {
				t.Fatalf("captured %+v, %v", got, err)
			}
			want := whole
			if c.deferred {
				want = whole[:c.logged]
				if got.Added != 0 {
					t.Errorf("%d bytes of a deferred file were logged", got.Added)
				}
			}
			if len(want) > 0 {
				sameBytes(t, "the log", w.export(sessionA, 0), want)
			}
			work := capture.PendingWork{Session: sessionA, Transcript: w.path(sessionA)}
			if _, err := w.capture.LogPending(t.Context(), work); err != nil {
				t.Fatal(err)
			}
			sameBytes(t, "the log after all", w.export(sessionA, 0), whole)
			if w.capture.MaxLog != c.limit {
				t.Error("the hook's limit changed")
			}
		})
	}
}

// TestLargeReplacedFileDeferred checks that a hook defers a large replaced file, which
// must be compared byte by byte.
func TestLargeReplacedFileDeferred(t *testing.T) {
	row := []byte(`{"type":"user","uuid":"u","sessionId":"` + sessionA + `","message":{"role":"user","content":"` + strings.Repeat("many words ", 8000) + `"}}` + "\n")
	whole := bytes.Repeat(row, 9<<20/len(row))
	w := newWorld(t)
	w.write(w.path(sessionA), whole)
	if _, err := w.capture.Log(t.Context(), w.source(sessionA)); err != nil {
		t.Fatal(err)
	}
	grown := append(bytes.Clone(whole), "{}\n"...)
	w.replace(w.path(sessionA), grown)
	if before, after := sessionInode(t, w.log(sessionA)), inodeOf(t, w.path(sessionA)); before == 0 || before == after {
		t.Skip("this system has no inodes")
	}
	w.capture.MaxLog = 1 << 20
	logged, err := w.capture.Log(t.Context(), w.source(sessionA))
	if err != nil || !logged.Deferred || logged.Added != 0 || logged.Rewritten {
		t.Fatalf("a hook: deferred %v, added %d, rewritten %v, %v", logged.Deferred, logged.Added, logged.Rewritten, err)
	}
	if got, err := w.capture.LogPending(t.Context(), capture.PendingWork{Session: sessionA, Transcript: w.path(sessionA)}); err != nil || got.Deferred || got.Added != 3 {
		t.Fatalf("without a deadline: %+v, %v", got, err)
	}
	sameBytes(t, "the log", w.export(sessionA, 0), grown)
	grown = append(grown, "{}\n"...)
	w.write(w.path(sessionA), grown) // the same file again: nothing to compare
	if logged, err = w.capture.Log(t.Context(), w.source(sessionA)); err != nil || logged.Deferred || logged.Added != 3 {
		t.Errorf("the next hook: deferred %v, added %d, %v", logged.Deferred, logged.Added, err)
	}
}

// sessionInode returns the inode in a session's log.
func sessionInode(t *testing.T, log string) uint64 {
	t.Helper()
	pos, err := sessionlog.ReadPosition(log)
	must(t, err)
	return pos.Inode
}

func TestHasNewBytes(t *testing.T) {
	w := newWorld(t)
	whole := transcriptOf(sessionA, 1, 1)
	size := int64(len(whole))
	hasNew := func(src capture.Source, size int64) bool {
		t.Helper()
		got, err := w.capture.HasNewBytes(src, size)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	src := w.source(sessionA)
	if hasNew(src, 0) || !hasNew(src, size) {
		t.Error("without a log an empty file has new bytes, or a full one has none")
	}
	w.write(w.path(sessionA), whole)
	w.hook(sessionA)
	for n, want := range map[int64]bool{size: false, size + 1: true, size - 1: false, 0: false} {
		if hasNew(src, n) != want {
			t.Errorf("a file of %d bytes with %d logged: %v", n, size, !want)
		}
	}
	side := capture.Source{Path: filepath.Join(w.client, "-home-dev-shop", sessionA, "tool-results", "b1.txt"), Session: sessionA, Rel: "tool-results/b1.txt"}
	if !hasNew(side, 5) {
		t.Error("a side file without a log has no new bytes")
	}
	w.write(side.Path, []byte("12345"))
	w.hook(sessionA)
	if hasNew(side, 5) || !hasNew(side, 6) {
		t.Error("of a side file that is logged")
	}
	must(t, os.WriteFile(w.log(sessionA), []byte("not a log, but long enough to be one  "), 0o600))
	if !hasNew(src, size) { // they go into another generation
		t.Error("a file whose log cannot be read has no new bytes")
	}
	if left, err := w.capture.UncapturedSiblings(w.source(sessionB), 10); err != nil || len(left) != 1 {
		t.Errorf("beside it: %v, %v", left, err)
	}
}

func TestCatchUp(t *testing.T) {
	for _, c := range []struct {
		name string
		work func(w *world) capture.PendingWork
		done bool
		code archive.Code
	}{
		{"a session that was left", func(w *world) capture.PendingWork {
			return capture.PendingWork{Session: sessionA, Transcript: w.path(sessionA)}
		}, true, ""},
		{"a transcript that the client has deleted", func(w *world) capture.PendingWork {
			return capture.PendingWork{Session: sessionB, Transcript: w.path(sessionB)}
		}, false, ""},
		{"a note that names another file", func(w *world) capture.PendingWork {
			return capture.PendingWork{Session: sessionB, Transcript: w.path(sessionA)}
		}, false, archive.CodeInvalid},
		{"a damaged note", func(*world) capture.PendingWork { return capture.PendingWork{Session: sessionA} }, false, archive.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
			w.withStore("index.db", func(s storeType) {
				done, err := w.capture.CatchUp(t.Context(), s, c.work(w))
				if done != c.done || (err == nil) != (c.code == "") || err != nil && archive.ErrorCode(err) != c.code {
					t.Errorf("done %v, %v", done, err)
				}
			})
			if c.done {
				if got, want := w.dump("index.db"), w.reindex("other.db"); got != want {
					t.Errorf("index: %s", firstDifference(got, want))
				}
			}
		})
	}
}

// TestDeletedTranscript checks that the archive keeps a transcript that the client
// deleted.
func TestDeletedTranscript(t *testing.T) {
	w := newWorld(t)
	files := w.family()
	must(t, os.RemoveAll(w.client))
	got, err := w.capture.LogSession(t.Context(), w.source(sessionA), true)
	if err != nil || !got.Missing || got.Added != 0 || len(got.Sessions) != 0 {
		t.Errorf("captured %+v, %v", got, err)
	}
	sameBytes(t, "the log", w.export(sessionA, 0), files[sessionA+".jsonl"])
}

// TestRepeatedCapture checks that a second capture changes no byte of the archive.
func TestRepeatedCapture(t *testing.T) {
	w := newWorld(t)
	w.family()
	before := tree(t, filepath.Join(w.home, "log"))
	got, err := w.capture.LogSession(t.Context(), w.source(sessionA), true)
	if err != nil || got.Added != 0 || got.Deferred || got.Missing {
		t.Errorf("captured %+v, %v", got, err)
	}
	sameTree(t, tree(t, filepath.Join(w.home, "log")), before)
}

// TestAgentDescription checks that a sub-agent's run is indexed whatever its description
// file holds.
func TestAgentDescription(t *testing.T) {
	agent := strings.ReplaceAll(string(transcriptOf(sessionA, 4, 1)), `"isSidechain":false`, `"isSidechain":true,"agentId":"a1"`)
	for name, c := range map[string]struct{ meta, want string }{
		"as the client writes it": {`{"agentType":"Explore","description":"Look"}`, "Explore"},
		"none":                    {"", ""},
		"not JSON":                {"<html>", ""},
		"of another shape":        {`["Explore"]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			dir := filepath.Join(w.client, "-home-dev-shop", sessionA, "subagents")
			w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
			w.write(filepath.Join(dir, "agent-a1.jsonl"), []byte(agent))
			if c.meta != "" {
				w.write(filepath.Join(dir, "agent-a1.meta.json"), []byte(c.meta))
			}
			w.hook(sessionA)
			w.withStore("index.db", func(s storeType) {
				run, err := s.Session(t.Context(), sessionA+"~a1")
				if err != nil || run.Agent.ID != "a1" || run.Agent.Type != c.want || run.Turns == 0 {
					t.Errorf("the run: %+v, %v", run.Agent, err)
				}
			})
		})
	}
}

func TestUnreadableAgentDescription(t *testing.T) {
	w := newWorld(t)
	files := w.family()
	meta := sessionlog.Layout{Root: w.home}.Child("claude", "-home-dev-shop", sessionA, "subagents/agent-a2c37f95.meta.json", 1)
	must(t, os.WriteFile(meta, []byte("not a log, but long enough to be one  "), 0o600))
	if got := w.reindex("other.db"); !strings.Contains(got, "a2c37f95") {
		t.Error("the run is not in the index")
	}
	sameBytes(t, "the run", w.export(sessionA+"~a2c37f95", 0), files[sessionA+"/subagents/agent-a2c37f95.jsonl"])
}

// TestEmptyLog checks that the next capture begins a log that was killed before its
// first append.
func TestEmptyLog(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
	must(t, os.MkdirAll(filepath.Dir(w.log(sessionA)), 0o700))
	must(t, os.WriteFile(w.log(sessionA), nil, 0o600))
	w.withStore("index.db", func(s storeType) { must(t, w.capture.Index(t.Context(), s, sessionA)) })
	if jobs, err := w.capture.LoggedJobs(t.Context()); err != nil || len(jobs) != 0 {
		t.Errorf("logged: %+v, %v", jobs, err)
	}
	w.hook(sessionA)
	sameBytes(t, "the log", w.export(sessionA, 0), transcriptOf(sessionA, 1, 1))
	r, err := w.capture.Open(sessionA, 0)
	must(t, err)
	if h := r.Header(); h.Cwd != "/home/dev/shop" || h.Source != w.path(sessionA) || h.Project.Name != "shop" || h.Kind != sessionlog.KindTranscript {
		t.Errorf("its header: %+v", h)
	}
	must(t, r.Close())
}
