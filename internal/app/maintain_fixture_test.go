package app_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"strandline/bench/synth"
	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/index/indextest"
	"strandline/internal/index/sqlite"
	"strandline/internal/sessionlog"
)

const (
	sessionA = "7f3a12cd-0000-4000-8000-000000000001"
	sessionB = "9b1c44ee-0000-4000-8000-000000000002"
)

// world is a client's folder, an archive and a clock that only the test moves.
type world struct {
	t      *testing.T
	client string
	home   string
	clock  time.Time
	runner app.Runner
	store  *sqlite.Store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{
		t: t, client: filepath.Join(dir, "client", "projects"), home: filepath.Join(dir, "home"),
	}
	info, err := os.Stat(dir) // files get their times from the system
	if err != nil {
		t.Fatal(err)
	}
	w.clock = info.ModTime()
	now := func() time.Time { return w.clock }
	w.runner = app.Runner{
		Workspace: app.Workspace{
			Config: &config.Config{Paths: config.Paths{Home: w.home, ClientDir: filepath.Dir(w.client)}},
			Capture: &capture.Capture{
				Layout:  sessionlog.Layout{Root: w.home},
				Project: func(dir string) archive.Project { return archive.Project{Key: "dir:" + dir, Root: dir} },
				Now:     now,
			},
			Journal: capture.Journal{Log: sessionlog.Journal{Dir: filepath.Join(w.home, "journal")}, Redact: func(s string) string { return s }, Now: now},
		},
		Now:       now,
		IdleAfter: app.DefaultIdle,
		Embed:     func(context.Context) (int, error) { return 0, nil },
	}
	if err := os.MkdirAll(w.home, 0o700); err != nil {
		t.Fatal(err)
	}
	if w.store, err = sqlite.Open(t.Context(), filepath.Join(w.home, "index.db"), sqlite.Options{Texts: w.runner.Capture.ReadPassages}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) path(session string) string {
	return filepath.Join(w.client, "-home-dev-shop", session+".jsonl")
}

// grow appends a turn to a session's transcript, as the client would.
func (w *world) grow(session string, seed uint64) {
	w.t.Helper()
	var out bytes.Buffer
	s := synth.New(&out, synth.Options{
		Session: session, Cwd: "/home/dev/shop", Branch: "main", Version: "2.1.0", Model: "claude-opus-5-5",
		Start: time.Date(2026, 11, 1, int(seed), 0, 0, 0, time.UTC), Seed: seed, Context: 12000,
	})
	s.Begin()
	s.Prompt(fmt.Sprintf("make retry number %d wait", seed))
	s.Say("The gateway bans fast retries.")
	s.Respond()
	s.EndTurn()
	if err := os.MkdirAll(filepath.Dir(w.path(session)), 0o700); err != nil {
		w.t.Fatal(err)
	}
	f, err := os.OpenFile(w.path(session), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := f.Write(out.Bytes()); err != nil {
		w.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// log captures a session without indexing it, like a hook that finds the index
// locked.
func (w *world) log(session string) {
	w.t.Helper()
	src, err := capture.TranscriptSource(w.path(session), session, "/home/dev/shop")
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.runner.Capture.LogSession(w.t.Context(), src, false); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) note(session string) {
	w.t.Helper()
	if err := w.runner.Pending().Add(capture.PendingWork{Session: session, Transcript: w.path(session)}); err != nil {
		w.t.Fatal(err)
	}
}

// indexOf returns a store as an index.
func indexOf(s *sqlite.Store) *app.Index {
	return &app.Index{Catalog: s, Transcripts: s, FileIndex: s, PassageIndex: s, JournalIndex: s, LogIndex: s, TierIndex: s, VectorIndex: s}
}

func (w *world) index() *app.Index {
	return indexOf(w.store)

}

// run does one maintenance run and returns its stages by name.
func (w *world) run() map[string]app.Stage {
	w.t.Helper()
	return w.runOn(w.index())
}

func (w *world) runOn(idx *app.Index) map[string]app.Stage {
	w.t.Helper()
	out := map[string]app.Stage{}
	for _, st := range w.runner.Run(w.t.Context(), idx) {
		out[st.Name] = st
	}
	return out
}

// healthy fails the test if a stage failed.
func healthy(t *testing.T, stages map[string]app.Stage) {
	t.Helper()
	for name, st := range stages {
		if st.Error != "" {
			t.Errorf("%s: %s", name, st.Error)
		}
	}
}

func (w *world) turns(session string) int {
	w.t.Helper()
	turns, err := w.store.Turns(w.t.Context(), archive.Span{Session: session})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(turns)
}

// dump returns every row of the index.
func (w *world) dump() string {
	w.t.Helper()
	return indextest.Dump(w.t, w.store)
}

// files returns the logs' content by path.
func (w *world) files() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	for e, err := range w.runner.Capture.Layout.Walk(context.Background()) {
		if err != nil {
			w.t.Fatal(err)
		}
		data, err := os.ReadFile(e.Path)
		if err != nil {
			w.t.Fatal(err)
		}
		out[e.Path] = string(data)
	}
	return out
}

// exported fails the test unless an export equals the transcript.
func (w *world) exported(session string) {
	w.t.Helper()
	want, err := os.ReadFile(w.path(session))
	if err != nil {
		w.t.Fatal(err)
	}
	var got bytes.Buffer
	if err := w.runner.Capture.Export(session, 0, &got); err != nil || !bytes.Equal(got.Bytes(), want) {
		w.t.Errorf("session %s: %d bytes, want %d, %v", session, got.Len(), len(want), err)
	}
}
