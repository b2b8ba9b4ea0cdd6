package app_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/compact"
)

// compacted logs a session and adds compactions to its rows.
func (w *world) compacted(session string, cuts int) {
	w.t.Helper()
	w.grow(session, 1)
	w.log(session)
	w.run()
	s, err := w.store.Session(w.t.Context(), session)
	if err != nil {
		w.t.Fatal(err)
	}
	s.Compacts, s.Last = cuts, w.clock
	cur, err := w.store.Cursor(w.t.Context(), session)
	if err != nil {
		w.t.Fatal(err)
	}
	from := cur.Offset
	cur.Offset++
	b := archive.Batch{Session: s, From: from, Cursor: cur}
	for i := range cuts {
		b.Compactions = append(b.Compactions, archive.Compaction{Session: session, Index: i, Line: 10 * (i + 1), SummaryLine: -1})
	}
	if err := w.store.Apply(w.t.Context(), b); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) inject(session string) {
	w.t.Helper()
	fact := archive.InjectedFact{Event: "SessionStart/compact", Handles: []string{"7f3a12cd/0", "7f3a12cd/1.2"}}
	if err := w.runner.Journal.Record(w.t.Context(), archive.JournalInjected, session, fact); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) accesses(session string) []archive.Access {
	w.t.Helper()
	as, err := w.store.Accesses(w.t.Context(), session)
	if err != nil {
		w.t.Fatal(err)
	}
	return as
}

// restored is the outcome of a compaction that restored n places, of which used
// were used.
func restored(n int, used ...archive.Ref) compact.Outcome {
	o := compact.Outcome{HasShares: true, Handles: make([]string, n)}
	for _, ref := range used {
		o.Used = append(o.Used, ref.Handle())
	}
	return o
}

func TestFeedbackIsRecordedOnce(t *testing.T) {
	w := newWorld(t)
	var measured []int
	place := archive.Ref{Session: sessionA, Turn: 1, Step: 2}
	w.compacted(sessionA, 2)
	w.inject(sessionA)
	w.compacted(sessionB, 1) // nothing was injected
	w.runner.Measure = func(_ context.Context, cut archive.Compaction) (compact.Outcome, error) {
		measured = append(measured, cut.Index)
		return restored(5, place), nil
	}

	stages := w.run()
	healthy(t, stages)
	if st := stages["feedback"]; st.Done != 1 || !slices.Equal(measured, []int{0}) {
		t.Errorf("%+v, measured %v: the last compaction of an active session is not finished", st, measured)
	}
	if as := w.accesses(sessionA); len(as) != 1 || as[0].Ref != place || as[0].How != archive.AccessUsed {
		t.Errorf("accesses %+v", as)
	}

	w.clock = w.clock.Add(w.runner.IdleAfter + time.Hour)
	if st := w.run()["feedback"]; st.Done != 1 || !slices.Equal(measured, []int{0, 1}) {
		t.Errorf("idle: %+v, measured %v", st, measured)
	}
	rows := w.dump()
	if st := w.run()["feedback"]; st.Done != 0 || len(measured) != 2 || w.dump() != rows {
		t.Errorf("again: %+v, measured %v", st, measured)
	}
	sum, err := w.store.Feedback(t.Context())
	if want := (archive.Feedback{Compactions: 2, Given: 10, Used: 2}); err != nil || sum != want {
		t.Errorf("sum %+v, want %+v, %v", sum, want, err)
	}
}

// A run after a kill between journal and index, or on a rebuilt index, finds the
// fact in the journal and does not measure again.
func TestFeedbackOfARebuiltIndex(t *testing.T) {
	w := newWorld(t)
	w.compacted(sessionA, 1)
	w.inject(sessionA)
	w.clock = w.clock.Add(w.runner.IdleAfter + time.Hour)
	w.runner.Measure = func(context.Context, archive.Compaction) (compact.Outcome, error) {
		return restored(3, archive.Ref{Session: sessionA, Turn: 0, Step: -1}), nil
	}
	w.run()
	want := w.accesses(sessionA)
	if len(want) != 1 {
		t.Fatalf("accesses %+v", want)
	}
	other := newWorld(t)
	other.runner.Journal.Log.Dir = w.runner.Journal.Log.Dir
	other.compacted(sessionA, 1)
	other.clock = w.clock
	other.runner.Measure = func(context.Context, archive.Compaction) (compact.Outcome, error) {
		t.Error("measured again")
		return compact.Outcome{}, nil
	}
	healthy(t, other.run())
	if got := other.accesses(sessionA); !slices.Equal(got, want) {
		t.Errorf("accesses %+v, want %+v", got, want)
	}
}

func TestFeedbackError(t *testing.T) {
	w := newWorld(t)
	w.compacted(sessionA, 1)
	w.inject(sessionA)
	w.clock = w.clock.Add(w.runner.IdleAfter + time.Hour)
	w.runner.Measure = func(context.Context, archive.Compaction) (compact.Outcome, error) {
		return compact.Outcome{}, errors.New("no such line")
	}
	stages := w.run()
	if st := stages["feedback"]; st.Error == "" || st.Done != 0 {
		t.Errorf("%+v", st)
	}
	if st := stages["seal"]; st.Error != "" || st.Done == 0 {
		t.Errorf("later stages did not run: %+v", st)
	}
	// An outcome without usage is recorded as well.
	w.runner.Measure = func(context.Context, archive.Compaction) (compact.Outcome, error) {
		return compact.Outcome{}, nil
	}
	if st := w.run()["feedback"]; st.Done != 1 || len(w.accesses(sessionA)) != 0 {
		t.Errorf("%+v", st)
	}
	if st := w.run()["feedback"]; st.Done != 0 {
		t.Errorf("again: %+v", st)
	}
}

func TestRecallIsAnAccess(t *testing.T) {
	w := newWorld(t)
	refs := []archive.Ref{{Session: sessionB, Turn: 3, Step: 1}}
	j := w.runner.Journal
	for range 2 {
		if err := j.RecordAccess(t.Context(), sessionA, refs); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.RecordAccess(t.Context(), sessionA, nil); err != nil {
		t.Fatal(err)
	}
	healthy(t, w.run())
	as := w.accesses(sessionB)
	if len(as) != 2 || as[0].How != archive.AccessRecalled || as[0].Ref != refs[0] {
		t.Errorf("accesses %+v", as)
	}
}

func TestSchedule(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := app.Schedule(t.TempDir() + "/state/maintained")
	if !s.Due(now) {
		t.Error("the first run is not due")
	}
	s.Begin(now)
	for after, due := range map[time.Duration]bool{
		0: false, 59 * time.Minute: false, time.Hour: true, 24 * time.Hour: true,
		-30 * time.Minute: false, -48 * time.Hour: true, // the clock was set back
	} {
		if got := s.Due(now.Add(after)); got != due {
			t.Errorf("%v later: due %v, want %v", after, got, due)
		}
	}
	s.Begin(now.Add(2 * time.Hour))
	if s.Due(now.Add(2 * time.Hour)) {
		t.Error("due right after a run began")
	}
}
