package capture_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"strandline/bench/synth"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/index/indextest"
	"strandline/internal/index/sqlite"
	"strandline/internal/sessionlog"
)

// world is a client's folder and an archive, both empty at first.
type world struct {
	t       testing.TB
	client  string // the client's folder of projects
	home    string
	capture *capture.Capture
	journal capture.Journal
}

// fixedTime is when everything in these tests happens.
func fixedTime() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func newWorld(t testing.TB) *world {
	t.Helper()
	return worldAt(t, filepath.Join(t.TempDir(), "client", "projects"), filepath.Join(t.TempDir(), "home"))
}

// worldAt uses existing folders, so that a child process shares its parent's.
func worldAt(t testing.TB, client, home string) *world {
	clock := fixedTime()
	now := func() time.Time { clock = clock.Add(time.Millisecond); return clock }
	plain := func(s string) string { return s }
	return &world{
		t: t, client: client, home: home,
		capture: &capture.Capture{
			Layout: sessionlog.Layout{Root: home},
			Project: func(dir string) archive.Project {
				return archive.Project{Key: "dir:" + dir, Name: filepath.Base(dir), Root: dir}
			},
			Now: now,
		},
		journal: capture.Journal{Log: sessionlog.Journal{Dir: filepath.Join(home, "journal")}, Redact: plain, Now: now},
	}
}

// path returns the client's path of a session's transcript.
func (w *world) path(session string) string {
	return filepath.Join(w.client, "-home-dev-shop", session+".jsonl")
}

// write replaces a file of the client.
func (w *world) write(path string, data []byte) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// appendTo appends to a file of the client.
func (w *world) appendTo(path string, data []byte) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := f.Write(data); err != nil {
		w.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// source returns the transcript of a session as in a hook's payload.
func (w *world) source(session string) capture.Source {
	w.t.Helper()
	src, err := capture.TranscriptSource(w.path(session), session, "/home/dev/shop")
	if err != nil {
		w.t.Fatal(err)
	}
	return src
}

// hook logs and indexes a session, like a hook.
func (w *world) hook(session string) {
	w.t.Helper()
	ctx := context.Background()
	got, err := w.capture.LogSession(ctx, w.source(session), true)
	if err != nil {
		w.t.Fatal(err)
	}
	w.withStore("index.db", func(s *sqlite.Store) {
		if err := w.capture.IndexAll(ctx, s, got.Sessions); err != nil {
			w.t.Fatal(err)
		}
	})
}

func (w *world) withStore(name string, use func(*sqlite.Store)) {
	w.t.Helper()
	if err := os.MkdirAll(w.home, 0o700); err != nil {
		w.t.Fatal(err)
	}
	s, err := sqlite.Open(context.Background(), filepath.Join(w.home, name), sqlite.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	use(s)
	if err := s.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// dump returns all rows of an index.
func (w *world) dump(name string) (out string) {
	w.t.Helper()
	w.withStore(name, func(s *sqlite.Store) { out = indextest.Dump(w.t, s) })
	return out
}

// reindex builds a new index from the logs and the journal alone.
func (w *world) reindex(name string) string {
	w.t.Helper()
	ctx := context.Background()
	jobs, err := w.capture.LoggedJobs(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	w.withStore(name, func(s *sqlite.Store) {
		report, err := w.capture.Bulk(ctx, s, s, jobs, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, f := range report.Failed {
			w.t.Errorf("reindex %s: %v", f.Path, f.Err)
		}
		if err := w.journal.Sync(ctx, s); err != nil {
			w.t.Fatal(err)
		}
	})
	return w.dump(name)
}

// export returns a session's transcript from the archive.
func (w *world) export(session string, generation int) []byte {
	w.t.Helper()
	var out bytes.Buffer
	if err := w.capture.Export(session, generation, &out); err != nil {
		w.t.Fatal(err)
	}
	return out.Bytes()
}

// sameBytes fails the test if two byte strings differ, and reports where.
func sameBytes(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	t.Fatalf("%s: %d bytes, want %d; they part at byte %d", what, len(got), len(want), at)
}

// transcriptOf returns a transcript with the given number of turns, in the client's
// form.
func transcriptOf(session string, seed uint64, turns int) []byte {
	var out bytes.Buffer
	writeSession(&out, session, seed, turns)
	return out.Bytes()
}

func writeSession(out io.Writer, session string, seed uint64, turns int) {
	s := synth.New(out, synth.Options{
		Session: session, Cwd: "/home/dev/shop", Branch: "main", Version: "2.1.0", Model: "claude-opus-5-5",
		Start: fixedTime().Add(-time.Duration(seed) * time.Hour), Seed: seed, Context: 12000,
	})
	s.Begin()
	for i := range turns {
		s.Prompt(fmt.Sprintf("step %d: make retry number %d of the payment client wait %d ms", i, i, 100*i))
		s.Think("The backoff is linear; it should double.")
		s.Say(fmt.Sprintf("I change backoff%d in client.go because the gateway bans fast retries.", i))
		call := s.Use("Bash", synth.Row{}.Str("command", fmt.Sprintf("go test ./pay -run Retry%d", i)))
		s.Respond()
		s.Answer(call, fmt.Sprintf("Exit code 1\n--- FAIL: TestRetry%d\nclient_test.go:4%d: waited 0s", i, i%10), true, nil)
		edit := s.Use("Edit", synth.Row{}.Str("file_path", "/home/dev/shop/pay/client.go").Str("old_string", "wait(i)").Str("new_string", fmt.Sprintf("wait(%d << i)", i)))
		s.Respond()
		s.Answer(edit, "The file was updated.", false, synth.Row{}.Str("filePath", "/home/dev/shop/pay/client.go"))
		s.Say("Done.")
		s.Respond()
		s.EndTurn()
		if i == turns/2 && turns > 3 {
			s.Compact("auto", 150000, 9000, "The user works on retries.")
		}
		s.Wait(time.Minute)
	}
}
