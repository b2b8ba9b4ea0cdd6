package capture_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
	"strandline/internal/transcript"
)

// found lists the results of Discover and List, below the client's folder.
func (w *world) found(jobs []capture.Job, failed []capture.FileError, err error) []string {
	w.t.Helper()
	if err != nil || len(failed) > 0 {
		w.t.Fatal(err, failed)
	}
	var names []string
	for _, j := range jobs {
		rel, err := filepath.Rel(w.client, j.Source.Path)
		if err != nil {
			w.t.Fatal(err)
		}
		info, err := os.Stat(j.Source.Path)
		if err != nil || j.Size != info.Size() || j.Session != "" {
			w.t.Errorf("job %+v of a file of %d bytes, %v", j, info.Size(), err)
		}
		names = append(names, filepath.ToSlash(rel))
	}
	return names
}

func TestTranscriptNames(t *testing.T) {
	w := newWorld(t)
	for _, rel := range []string{
		"-a/" + sessionA + ".jsonl", "-a/deeper/x.jsonl", "-b/agent-a1.jsonl", // these are
		"-a/.hidden.jsonl", "-a/.jsonl", "-a/with blank.jsonl", "-a/x.jsonl.bak", "-a/x.json", "-a/notes.md", "top.txt",
		"-a/" + sessionA + "/elsewhere/y.txt",
	} {
		w.write(filepath.Join(w.client, filepath.FromSlash(rel)), transcriptOf("x", 1, 1))
	}
	must(t, os.MkdirAll(filepath.Join(w.client, "-a", "folder.jsonl"), 0o700))
	want := []string{"-a/" + sessionA + ".jsonl", "-a/deeper/x.jsonl", "-b/agent-a1.jsonl"}
	if got := w.found(w.capture.Discover(t.Context(), []string{w.client})); !slices.Equal(got, want) {
		t.Errorf("an import finds %q, want %q", got, want)
	}
	if got := w.found(capture.List(t.Context(), []string{w.client})); !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
}

func TestDiscoverPaths(t *testing.T) {
	w := newWorld(t)
	a, b := "-a/"+sessionA, "-b/"+sessionB
	for _, rel := range []string{a + ".jsonl", a + "/subagents/agent-a1.jsonl", a + "/tool-results/b1.txt", b + ".jsonl"} {
		w.write(filepath.Join(w.client, filepath.FromSlash(rel)), transcriptOf("x", 1, 1))
	}
	all := []string{a + ".jsonl", a + "/subagents/agent-a1.jsonl", a + "/tool-results/b1.txt", b + ".jsonl"}
	for _, c := range []struct {
		name  string
		paths []string
		want  []string
	}{
		{"the folder of projects", []string{""}, all},
		{"a project's folder", []string{"-b"}, all[3:]},
		{"a transcript, with its side files", []string{a + ".jsonl"}, all[:3]},
		{"the same twice", []string{b + ".jsonl", b + ".jsonl"}, all[3:]},
		{"a folder and a file in it", []string{"-b", "", b + ".jsonl"}, all},
		{"by another spelling", []string{"-b/../-b", "-b/."}, all[3:]},
		{"a session's folder alone holds no transcript", []string{a}, nil},
		{"a file that is none", []string{a + "/tool-results/b1.txt"}, nil},
		{"no path", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var paths []string
			for _, p := range c.paths {
				paths = append(paths, w.client+string(filepath.Separator)+filepath.FromSlash(p))
			}
			if got := w.found(w.capture.Discover(t.Context(), paths)); !slices.Equal(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// TestDiscoverOrderWithoutDates checks that files without a dated row are ordered by
// their own time, then by path.
func TestDiscoverOrderWithoutDates(t *testing.T) {
	w := newWorld(t)
	undated := []byte(`{"type":"summary","summary":"x"}` + "\n")
	for i, name := range []string{"c", "b", "a"} {
		w.write(w.path(name), undated)
		when := fixedTime().Add(time.Duration(i/2) * time.Hour) // c and b at once, a later
		must(t, os.Chtimes(w.path(name), when, when))
	}
	w.write(w.path("d"), transcriptOf("d", 1, 1)) // its rows are an hour before the others' files
	got := w.found(w.capture.Discover(t.Context(), []string{w.client}))
	want := []string{"-home-dev-shop/d.jsonl", "-home-dev-shop/b.jsonl", "-home-dev-shop/c.jsonl", "-home-dev-shop/a.jsonl"}
	if !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}

// TestUnreadableSideFolder checks that a folder that cannot be listed is reported and
// the other files are found.
func TestUnreadableSideFolder(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
	w.write(w.path(sessionB), transcriptOf(sessionB, 2, 1))
	w.write(filepath.Join(w.client, "-home-dev-shop", sessionA, "subagents"), []byte("a file in the folder's place"))
	for name, find := range map[string]func() ([]capture.Job, []capture.FileError, error){
		"import": func() ([]capture.Job, []capture.FileError, error) {
			return w.capture.Discover(t.Context(), []string{w.client})
		},
		"list": func() ([]capture.Job, []capture.FileError, error) {
			return capture.List(t.Context(), []string{w.client})
		},
	} {
		jobs, failed, err := find()
		if err != nil || len(jobs) != 2 || len(failed) != 1 || failed[0].Path != w.path(sessionA) || failed[0].Err == nil {
			t.Errorf("%s: %d files, failed %v, %v", name, len(jobs), failed, err)
		}
	}
	got, err := w.capture.LogSession(t.Context(), w.source(sessionA), true)
	if err == nil || len(got.Sessions) != 1 {
		t.Errorf("a hook: %+v, %v", got, err)
	}
	sameBytes(t, "the transcript", w.export(sessionA, 0), transcriptOf(sessionA, 1, 1))
}

func TestUnreadableFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read every folder")
	}
	w := newWorld(t)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
	closed := filepath.Join(w.client, "-closed")
	must(t, os.MkdirAll(closed, 0o700))
	must(t, os.Chmod(closed, 0))
	defer func() { must(t, os.Chmod(closed, 0o700)) }()
	jobs, failed, err := w.capture.Discover(t.Context(), []string{w.client})
	if err != nil || len(jobs) != 1 || len(failed) != 1 || failed[0].Path != closed {
		t.Errorf("%d files, failed %v, %v", len(jobs), failed, err)
	}
}

func TestDiscoverStops(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if _, _, err := w.capture.Discover(ctx, []string{w.client}); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	_, _, err := w.capture.Discover(t.Context(), []string{w.client, filepath.Join(w.client, "nowhere")})
	if archive.ErrorCode(err) != archive.CodeNotFound || archive.ErrorHint(err) == "" || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a path that leads nowhere: %v", err)
	}
}

// TestLoggedSessions lists each session once with the bytes of all its generations,
// including sub-agents, in the order of their first logs.
func TestLoggedSessions(t *testing.T) {
	w := newWorld(t)
	if jobs, err := w.capture.LoggedJobs(t.Context()); err != nil || len(jobs) > 0 {
		t.Errorf("of no archive: %v, %v", jobs, err)
	}
	w.write(w.path(sessionB), transcriptOf(sessionB, 2, 1))
	w.hook(sessionB)
	files := w.family()
	second := transcriptOf(sessionB, 7, 1)
	w.write(w.path(sessionB), second)
	w.hook(sessionB)
	jobs, err := w.capture.LoggedJobs(t.Context())
	first := int64(len(transcriptOf(sessionB, 2, 1)))
	want := []capture.Job{
		{Session: sessionB, Size: first + int64(len(second)), Generation: 2, Earlier: first},
		{Session: sessionA, Size: int64(len(files[sessionA+".jsonl"])), Generation: 1},
		{Session: sessionA + "~a2c37f95", Size: int64(len(files[sessionA+"/subagents/agent-a2c37f95.jsonl"])), Generation: 1},
	}
	if err != nil || !slices.Equal(jobs, want) {
		t.Errorf("got %+v, %v\nwant %+v", jobs, err, want)
	}
}

// TestLoggedSessionsWithDamage checks that a log that cannot be read is listed for a
// rebuild to report; an empty log is not a session.
func TestLoggedSessionsWithDamage(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionB), transcriptOf(sessionB, 2, 1))
	w.hook(sessionB)
	w.family()
	layout := sessionlog.Layout{Root: w.home}
	agent := layout.Child("claude", "-home-dev-shop", sessionA, "subagents/agent-a2c37f95.jsonl", 1)
	side := layout.Child("claude", "-home-dev-shop", sessionA, "tool-results/b1.txt", 1)
	for _, path := range []string{w.log(sessionA), agent, side} {
		must(t, os.WriteFile(path, []byte("not a log, but long enough to be one  "), 0o600))
	}
	must(t, os.WriteFile(w.log("empty"), nil, 0o600))
	jobs, err := w.capture.LoggedJobs(t.Context())
	var names []string
	for _, j := range jobs {
		names = append(names, j.Session)
	}
	if want := []string{sessionA, sessionA + "~a2c37f95", sessionB}; err != nil || !slices.Equal(names, want) {
		t.Errorf("got %q, %v; want %q", names, err, want)
	}
	w.withStore("other.db", func(s storeType) {
		report, err := w.capture.Bulk(t.Context(), s, s, jobs, nil)
		if err != nil || len(report.Failed) != 2 || report.Sessions != 1 || report.Done != 3 {
			t.Errorf("report %+v, %v", report, err)
		}
		for _, f := range report.Failed {
			if archive.ErrorCode(f.Err) != archive.CodeCorrupt {
				t.Errorf("%s: %v", f.Path, f.Err)
			}
		}
	})
}

// TestLoggedSessionsOfOtherClients checks that logs of other clients and of the journal
// are not listed.
func TestLoggedSessionsOfOtherClients(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
	w.hook(sessionA)
	other := *w.capture
	other.Clients = []transcript.Client{{Name: "another"}}
	if jobs, err := other.LoggedJobs(t.Context()); err != nil || len(jobs) != 0 {
		t.Errorf("got %+v, %v", jobs, err)
	}
	if other.HasLog(sessionA) {
		t.Error("another client has this one's session")
	}
}
