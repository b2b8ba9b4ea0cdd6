package app_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
)

// teacher returns the same tally for every compaction and records the sessions.
type teacher struct {
	seen  []string
	short bool
	err   error
}

func (x *teacher) Synthetic(_ context.Context, session string) (archive.Compaction, bool, error) {
	return archive.Compaction{Session: session, Line: 3}, !x.short, x.err
}

func (x *teacher) Teach(_ context.Context, c archive.Compaction) (map[string]archive.Tally, error) {
	x.seen = append(x.seen, archive.ShortID(c.Session))
	return map[string]archive.Tally{"hash": {Expected: 2, Needed: 1}}, x.err
}

func (w *world) taught() (*teacher, app.Learned) {
	x := &teacher{}
	w.runner.Teach, w.runner.Synthetic = x.Teach, x.Synthetic
	return x, app.Learned(filepath.Join(w.home, "learned.json"))
}

// idle moves the clock so that all sessions are idle.
func (w *world) idle() { w.clock = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC) }

func TestLearnOncePerSession(t *testing.T) {
	w := newWorld(t)
	x, file := w.taught()
	for i, s := range []string{sessionA, sessionB} {
		w.grow(s, uint64(i)+1)
		w.log(s)
	}
	w.clock = time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)
	if st := w.run()["learn"]; st.Done != 0 || len(x.seen) != 0 {
		t.Fatalf("learned from active sessions: %+v", st)
	}
	if _, n := file.Read(); n != 0 {
		t.Errorf("learned from %d", n)
	}
	w.idle()
	for i, want := range []int{2, 0} {
		if st := w.run()["learn"]; st.Done != want || st.Error != "" {
			t.Errorf("run %d: %+v, want %d", i, st, want)
		}
		got, n := file.Read()
		if n != 2 || got["hash"] != (archive.Tally{Expected: 4, Needed: 2}) {
			t.Errorf("run %d: %v from %d", i, got, n)
		}
	}
	// Before the second session ended, there was one compaction to learn from.
	for at, want := range map[time.Time]float64{
		time.Date(2026, 11, 1, 1, 30, 0, 0, time.UTC): 2, w.clock: 4, time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC): 0,
	} {
		if got, err := app.TalliesAt(t.Context(), w.runner.Journal, at); err != nil || got["hash"].Expected != want {
			t.Errorf("by %v: %v, %v; want %v", at, got, err, want)
		}
	}
	// A damaged file is written again.
	if err := os.WriteFile(string(file), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, n := file.Read(); got != nil || n != 0 {
		t.Errorf("read from a damaged file: %v", got)
	}
	w.run()
	if _, n := file.Read(); n != 2 {
		t.Errorf("learned from %d", n)
	}
	// Forgotten sessions no longer count.
	f := w.forget()
	if err := f.BeginForget(t.Context(), sessionA, archive.ForgetAsked); err != nil {
		t.Fatal(err)
	}
	if _, err := f.EraseSessions(t.Context(), []string{sessionA, sessionB}); err != nil {
		t.Fatal(err)
	}
	w.run()
	if _, err := os.Stat(filepath.Join(w.home, "learned.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("tallies of forgotten sessions are left: %v", err)
	}
}

func TestLearnLimit(t *testing.T) {
	w := newWorld(t)
	x, file := w.taught()
	for i, s := range []string{sessionA, sessionB} {
		w.grow(s, uint64(i)+1)
		w.log(s)
	}
	w.idle()
	w.runner.LearnLimit = 1
	for want := 1; want <= 2; want++ {
		if st := w.run()["learn"]; st.Done != 1 {
			t.Errorf("%+v", st)
		}
		if _, n := file.Read(); n != want || len(x.seen) != want {
			t.Errorf("learned from %d, tried %v", n, x.seen)
		}
	}
}

// A session that is too short is tried once; one that cannot be read is tried again.
func TestLearnFromNothing(t *testing.T) {
	w := newWorld(t)
	x, file := w.taught()
	w.grow(sessionA, 1)
	w.log(sessionA)
	w.idle()
	x.err = errors.New("the log is damaged")
	if st := w.run()["learn"]; st.Error == "" || st.Done != 0 {
		t.Errorf("%+v", st)
	}
	x.err, x.short = nil, true
	if st := w.run()["learn"]; st.Error != "" || st.Done != 0 {
		t.Errorf("%+v", st)
	}
	x.short = false
	if st := w.run()["learn"]; st.Done != 0 || len(x.seen) != 0 { // not tried again
		t.Errorf("%+v, tried %v", st, x.seen)
	}
	if _, n := file.Read(); n != 0 {
		t.Errorf("learned from %d", n)
	}
}
