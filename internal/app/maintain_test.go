package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/index/sqlite"
	"strandline/internal/sessionlog"
)

func TestAnEmptyArchive(t *testing.T) {
	w := newWorld(t)
	stages := w.runner.Run(t.Context(), w.index())
	var names []string
	for _, st := range stages {
		names = append(names, st.Name)
		if st.Error != "" || st.Done != 0 {
			t.Errorf("%+v", st)
		}
	}
	if want := []string{"pending", "index", "journal", "posted", "feedback", "learn", "embed", "tiers", "compact", "seal", "state", "health"}; !slices.Equal(names, want) {
		t.Errorf("stages %v, want %v", names, want)
	}
}

// An extra stage, such as a push, runs after the others and may fail.
func TestExtraStage(t *testing.T) {
	w := newWorld(t)
	w.withHealth()
	w.grow(sessionA, 1)
	w.log(sessionA)
	send := func(ctx context.Context, idx *app.Index, st *app.Stage) error {
		sessions, err := idx.Sessions(ctx, archive.SessionFilter{})
		st.Done = len(sessions)
		return errors.Join(err, errors.New("the server does not answer"))
	}
	w.runner.Extra = []app.Step{{Name: "sync", Run: send}}
	stages := w.runner.Run(t.Context(), w.index())
	n := len(stages)
	if got := stages[n-2]; got.Name != "sync" || got.Done != 1 || got.Error != "the server does not answer" {
		t.Errorf("%+v", got)
	}
	if stages[n-3].Name != "state" || stages[n-1].Name != "health" || stages[n-1].Error != "" {
		t.Errorf("%+v", stages)
	}
}

func TestIndexStage(t *testing.T) {
	w := newWorld(t)
	w.grow(sessionA, 1)
	w.log(sessionA)
	w.grow(sessionB, 2)
	w.log(sessionB)
	if st := w.run()["index"]; st.Done != 2 || st.Error != "" {
		t.Errorf("%+v", st)
	}
	w.grow(sessionA, 3)
	w.log(sessionA)
	if st := w.run()["index"]; st.Done != 1 || st.Error != "" {
		t.Errorf("%+v", st)
	}
	if w.turns(sessionA) != 2 || w.turns(sessionB) != 1 {
		t.Errorf("%d and %d turns are indexed", w.turns(sessionA), w.turns(sessionB))
	}
}

func TestIndexReport(t *testing.T) {
	w := newWorld(t)
	w.grow(sessionA, 1)
	w.log(sessionA)
	w.grow(sessionB, 2) // not logged
	path := w.runner.Capture.Layout.Transcript("claude", "-home-dev-shop", "0bad", 1)
	if err := os.WriteFile(path, []byte("this is not a session log, however long one reads it"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, changed := range []int{1, 0} {
		report, err := w.runner.Index(t.Context(), w.store)
		if err != nil || report.Sessions != changed || len(report.Failed) != 1 || report.Failed[0].Path != "0bad" {
			t.Errorf("%+v, %v", report, err)
		}
	}
	if w.turns(sessionA) != 1 || w.turns(sessionB) != 0 {
		t.Errorf("%d and %d turns are indexed", w.turns(sessionA), w.turns(sessionB))
	}
}

func TestUnindexed(t *testing.T) {
	w := newWorld(t)
	w.grow(sessionA, 1)
	w.log(sessionA)
	w.grow(sessionB, 2)
	w.log(sessionB)
	for _, want := range []int{2, 0} {
		if n, err := w.runner.Unindexed(t.Context(), w.store); n != want || err != nil {
			t.Errorf("%d sessions, %v; want %d", n, err, want)
		}
		w.run()
	}
}

func TestTheJournalIsApplied(t *testing.T) {
	w := newWorld(t)
	w.grow(sessionA, 1)
	w.log(sessionA)
	err := w.runner.Journal.Record(t.Context(), archive.JournalMerge, "", archive.MergeFact{From: "dir:/home/dev/shop", Into: "dir:/new"})
	if err != nil {
		t.Fatal(err)
	}
	healthy(t, w.run())
	list, err := w.store.Sessions(t.Context(), archive.SessionFilter{Projects: []string{"dir:/new"}})
	if err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

// A log is sealed once it has been idle for DefaultIdle, to the minute.
func TestIdleLogsAreSealed(t *testing.T) {
	w := newWorld(t)
	for _, session := range []string{sessionA, sessionB} {
		for seed := range uint64(3) {
			w.grow(session, seed+1)
			w.log(session)
		}
	}
	healthy(t, w.run())
	before := w.files()
	idle := w.runner.Capture.Layout.Transcript("claude", "-home-dev-shop", sessionA, 1)
	info, err := os.Stat(idle)
	if err != nil {
		t.Fatal(err)
	}
	old := info.ModTime().Add(-time.Hour)
	if err := os.Chtimes(idle, old, old); err != nil {
		t.Fatal(err)
	}
	w.clock = old.Add(app.DefaultIdle - time.Minute)
	if st := w.run()["seal"]; st.Done != 0 || st.Error != "" {
		t.Errorf("a minute early: %+v", st)
	}
	w.clock = old.Add(app.DefaultIdle + time.Minute)
	st := w.run()["seal"]
	if st.Done != 1 || st.Error != "" || st.Before != int64(len(before[idle])) || st.After <= 0 || st.After >= st.Before {
		t.Errorf("%+v, the log had %d bytes", st, len(before[idle]))
	}
	after := w.files()
	for path, data := range after {
		if changed := data != before[path]; changed != (path == idle) {
			t.Errorf("%s: changed %v", path, changed)
		}
	}
	w.exported(sessionA)
	w.exported(sessionB)
	w.clock = w.clock.Add(2 * app.DefaultIdle)
	if st := w.run()["seal"]; st.Done != 1 {
		t.Errorf("the other session: %+v", st)
	}
}

func TestRunningTwiceChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.grow(sessionA, 1)
	w.note(sessionA)
	w.grow(sessionB, 2)
	w.log(sessionB)
	w.log(sessionB)
	w.clock = w.clock.Add(app.DefaultIdle + time.Hour)
	healthy(t, w.run())
	rows, logs := w.dump(), w.files()
	w.clock = w.clock.Add(48 * time.Hour)
	for name, st := range w.run() {
		if st.Done != 0 || st.Error != "" {
			t.Errorf("%s: %+v", name, st)
		}
	}
	if w.dump() != rows {
		t.Error("the index has changed")
	}
	if !maps.Equal(w.files(), logs) {
		t.Error("the logs have changed")
	}
}

func TestActiveLogIsNotSealed(t *testing.T) {
	w := newWorld(t)
	w.grow(sessionA, 1)
	w.log(sessionA)
	w.grow(sessionA, 2)
	w.log(sessionA)
	path := w.runner.Capture.Layout.Transcript("claude", "-home-dev-shop", sessionA, 1)
	r, err := sessionlog.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	header := r.Header()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := sessionlog.Open(t.Context(), path, header) // the writer's lock
	if err != nil {
		t.Fatal(err)
	}
	w.clock = w.clock.Add(24 * time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	stages := w.runner.Run(ctx, w.index())
	if at := slices.IndexFunc(stages, func(s app.Stage) bool { return s.Name == "seal" }); at < 0 || stages[at].Done != 0 {
		t.Errorf("%+v", stages)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if st := w.run()["seal"]; st.Done != 1 || st.Error != "" {
		t.Errorf("afterwards: %+v", st)
	}
	w.exported(sessionA)
}

// The stages' errors keep their code, which becomes the exit status.
func TestStageErrorsKeepTheirCode(t *testing.T) {
	w := newWorld(t)
	w.grow(sessionA, 1)
	w.log(sessionA)
	busy := &archive.Error{Code: archive.CodeBusy, Msg: "the index is locked"}
	stages := w.runner.Run(t.Context(), broken{Store: w.store, apply: busy}.index())
	if err := app.StageErrors(stages); archive.ErrorCode(err) != archive.CodeBusy {
		t.Errorf("%v has code %q", err, archive.ErrorCode(err))
	}
}

// broken is an index of which some methods fail.
type broken struct {
	*sqlite.Store
	cursor, apply, journal error
}

func (b broken) index() *app.Index {
	return &app.Index{Catalog: b, Transcripts: b, FileIndex: b, PassageIndex: b, JournalIndex: b, LogIndex: b, TierIndex: b, VectorIndex: b}
}

func (b broken) Cursor(ctx context.Context, session string) (archive.Cursor, error) {
	if b.cursor != nil {
		return archive.Cursor{}, b.cursor
	}
	return b.Store.Cursor(ctx, session)
}

func (b broken) Apply(ctx context.Context, batch archive.Batch) error {
	if b.apply != nil {
		return b.apply
	}
	return b.Store.Apply(ctx, batch)
}

func (b broken) ApplyAll(ctx context.Context, batches []archive.Batch) error {
	if b.apply != nil {
		return b.apply
	}
	return b.Store.ApplyAll(ctx, batches)
}

func (b broken) Positions(ctx context.Context) (map[string]archive.Cursor, error) {
	if b.cursor != nil {
		return nil, b.cursor
	}
	return b.Store.Positions(ctx)
}

func (b broken) JournalCursor(ctx context.Context) ([]byte, error) {
	if b.journal != nil {
		return nil, b.journal
	}
	return b.Store.JournalCursor(ctx)
}

func TestFailedStageDoesNotStopTheOthers(t *testing.T) {
	fault := errors.New("out of order")
	tests := map[string]struct {
		set    func(w *world, b *broken)
		failed []string
	}{
		"the pending folder is a file": {func(w *world, _ *broken) {
			dir := w.runner.Pending().Dir
			if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
				w.t.Fatal(err)
			}
		}, []string{"pending"}},
		"the cursors cannot be read": {func(_ *world, b *broken) { b.cursor = fault }, []string{"health", "index", "pending"}},
		"no row can be written":      {func(_ *world, b *broken) { b.apply = fault }, []string{"index", "pending"}},
		"the journal cannot be read": {func(_ *world, b *broken) { b.journal = fault }, []string{"journal"}},
		"a log is invalid": {func(w *world, _ *broken) {
			path := w.runner.Capture.Layout.Transcript("claude", "-home-dev-shop", "0bad", 1)
			if err := os.WriteFile(path, []byte("this is not a session log, however long one reads it"), 0o600); err != nil {
				w.t.Fatal(err)
			}
		}, []string{"index", "seal"}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for seed := range uint64(2) {
				w.grow(sessionA, seed+1)
				w.log(sessionA)
			}
			w.grow(sessionB, 3)
			w.note(sessionB)
			b := broken{Store: w.store}
			c.set(w, &b)
			w.clock = w.clock.Add(24 * time.Hour)
			stages := w.runOn(b.index())
			var failed []string
			for name, st := range stages {
				if st.Error != "" {
					failed = append(failed, name)
				}
			}
			slices.Sort(failed)
			if len(stages) != 12 || !slices.Equal(failed, c.failed) {
				t.Errorf("failed: %v, want %v; %+v", failed, c.failed, stages)
			}
			if stages["seal"].Done < 1 {
				t.Errorf("nothing was sealed: %+v", stages["seal"])
			}
			w.exported(sessionA)
		})
	}
}

// A damaged log is reported; the others are indexed.
func TestDamagedLog(t *testing.T) {
	w := newWorld(t)
	w.grow(sessionA, 1)
	w.log(sessionA)
	path := w.runner.Capture.Layout.Transcript("claude", "-home-dev-shop", "0bad", 1)
	if err := os.WriteFile(path, []byte("this is not a session log, however long one reads it"), 0o600); err != nil {
		t.Fatal(err)
	}
	st := w.run()["index"]
	if st.Done != 1 || !strings.Contains(st.Error, "0bad") {
		t.Errorf("%+v", st)
	}
	if w.turns(sessionA) != 1 {
		t.Errorf("%d turns are indexed", w.turns(sessionA))
	}
}

func TestStageDuration(t *testing.T) {
	w := newWorld(t)
	w.runner.Now = func() time.Time { w.clock = w.clock.Add(5 * time.Millisecond); return w.clock }
	readsClock := []string{"posted", "state", "health"} // once themselves
	for _, st := range w.runner.Run(t.Context(), w.index()) {
		want := int64(5)
		if slices.Contains(readsClock, st.Name) {
			want = 10
		}
		if st.TookMS != want {
			t.Errorf("%+v", st)
		}
	}
}

// The output of `maintain --json`.
func TestStageJSON(t *testing.T) {
	for want, st := range map[string]app.Stage{
		`{"stage":"seal","done":1,"before":20,"after":10,"took_ms":3}`: {Name: "seal", Done: 1, Before: 20, After: 10, TookMS: 3},
		`{"stage":"index","done":0,"error":"locked","took_ms":0}`:      {Name: "index", Error: "locked"},
	} {
		got, err := json.Marshal(st)
		if err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("got %s, want %s, %v", got, want, err)
		}
	}
}
