package app_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/usage"
)

func (w *world) withHealth() usage.Store {
	return usage.Store{Dir: filepath.Join(w.home, "state")}
}

func TestHealthIsWritten(t *testing.T) {
	w := newWorld(t)
	files := w.withHealth()
	w.grow(sessionA, 1)
	w.log(sessionA)
	w.grow(sessionB, 2) // not logged
	if h, ok := files.Health(); ok {
		t.Fatalf("health before the first run: %+v", h)
	}
	healthy(t, w.run())
	h, ok := files.Health()
	if !ok || h.Time != w.clock.UnixMilli() {
		t.Fatalf("%+v, %v", h, ok)
	}
	captured, _ := h.Captured.Value()
	indexed, _ := h.Indexed.Value()
	if captured < 0.4 || captured > 0.6 || indexed != 1 || h.Used != nil || h.Embedded != nil {
		t.Errorf("captured %.2f of two equal sessions, indexed %.2f, %+v", captured, indexed, h)
	}
	w.log(sessionB)
	fact := archive.AccessFact{Refs: []archive.Ref{{Session: sessionA, Turn: 0, Step: 0}}, How: archive.AccessUsed, Of: 4}
	if err := w.runner.Journal.Record(t.Context(), archive.JournalAccess, sessionA, fact); err != nil {
		t.Fatal(err)
	}
	healthy(t, w.run())
	h, _ = files.Health()
	captured, _ = h.Captured.Value()
	used, _ := h.Used.Value()
	if mean, _ := h.Mean(); captured != 1 || used != 0.25 || mean != 0.75 {
		t.Errorf("captured %.2f, used %.2f, mean %.2f", captured, used, mean)
	}
}

// The embedded share counts from the first vector on: an archive without vectors
// is healthy.
func TestHealthEmbedded(t *testing.T) {
	w := newWorld(t)
	files := w.withHealth()
	w.grow(sessionA, 1)
	w.log(sessionA)
	healthy(t, w.run())
	if h, _ := files.Health(); h.Embedded != nil {
		t.Errorf("embedded before the first vector: %+v", h.Embedded)
	}
	work, err := w.store.Unembedded(t.Context(), "words", 3, 1)
	if err == nil {
		err = w.store.PutVectors(t.Context(), "words", 3, work, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	healthy(t, w.run())
	h, _ := files.Health()
	if h.Embedded == nil || h.Embedded.Part != 1 || h.Embedded.Of < 2 {
		t.Errorf("one passage was embedded: %+v", h.Embedded)
	}
	if mean, _ := h.Mean(); mean >= 1 {
		t.Errorf("mean %.2f", mean)
	}
}

// After an error the last health stays, and the stage reports the error.
func TestHealthError(t *testing.T) {
	w := newWorld(t)
	files := w.withHealth()
	w.grow(sessionA, 1)
	w.log(sessionA)
	healthy(t, w.run())
	before, _ := files.Health()
	b := broken{Store: w.store, cursor: errors.New("out of order")}
	if st := w.runOn(b.index())["health"]; st.Error == "" {
		t.Errorf("%+v", st)
	}
	if after, ok := files.Health(); !ok || after.Time != before.Time {
		t.Errorf("%+v, %v", after, ok)
	}
}

// A session's state is removed a month after it was last written.
func TestOldStateIsRemoved(t *testing.T) {
	w := newWorld(t)
	dir := w.withHealth().Dir
	written := map[string]time.Duration{"old.json": 31 * 24 * time.Hour, "young.json": 29 * 24 * time.Hour, "notes.txt": 99 * 24 * time.Hour}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, age := range written {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, w.clock.Add(-age), w.clock.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if st := w.run()["state"]; st.Done != 1 || st.Error != "" {
		t.Errorf("%+v, want one file removed", st)
	}
	for name, removed := range map[string]bool{"old.json": true, "young.json": false, "notes.txt": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) != removed {
			t.Errorf("%s: %v, want removed: %v", name, err, removed)
		}
	}
	if st := w.run()["state"]; st.Done != 0 {
		t.Errorf("%+v, want none removed", st)
	}
}

// So are the hooks' files; a missing folder is empty.
func TestOldSessionFilesAreRemoved(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.home, "state", "segments")
	if err := os.MkdirAll(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{sessionA + ".json": 31 * 24 * time.Hour, sessionB + ".json": time.Hour} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, w.clock.Add(-age), w.clock.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{1, 0} {
		if st := w.run()["state"]; st.Done != want || st.Error != "" {
			t.Errorf("%+v, want %d swept", st, want)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != sessionB+".json" {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestHealthCounts(t *testing.T) {
	w := newWorld(t)
	w.withHealth()
	for i, session := range []string{sessionA, sessionB} {
		w.grow(session, uint64(i)+1)
	}
	for _, want := range []app.HealthReport{{Uncaptured: 2}, {Uncaptured: 1, Unindexed: 1}, {Unindexed: 2}} {
		h, err := w.runner.Health(t.Context(), w.index())
		if err != nil || h.Uncaptured != want.Uncaptured || h.Unindexed != want.Unindexed || h.Measured != 0 {
			t.Errorf("%+v, %v; want %+v", h, err, want)
		}
		if want.Uncaptured == 2 {
			w.log(sessionA)
		} else {
			w.log(sessionB)
		}
	}
}
