package maintenance_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"strandline/internal/app/maintenance"
	"strandline/internal/archive"
)

// compacted gives a session compactions that gave something back.
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

func (w *world) gave(session string) {
	w.t.Helper()
	fact := archive.InjectedFact{Event: "SessionStart/compact", Handles: []string{"7f3a12cd/0", "7f3a12cd/1.2"}}
	if err := w.pass.Journal.Record(w.t.Context(), archive.JournalInjected, session, fact); err != nil {
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

func TestWhatWasUsedIsRecordedOnce(t *testing.T) {
	w := newWorld(t)
	var asked []int
	place := archive.Ref{Session: sessionA, Turn: 1, Step: 2}
	w.compacted(sessionA, 2)
	w.gave(sessionA)
	w.compacted(sessionB, 1) // nothing was given back there
	w.pass.Measure = func(_ context.Context, cut archive.Compaction) (maintenance.Outcome, error) {
		asked = append(asked, cut.Index)
		return maintenance.Outcome{Of: 5, Used: []archive.Ref{place}}, nil
	}

	stages := w.run()
	healthy(t, stages)
	if st := stages["feedback"]; st.Done != 1 || !slices.Equal(asked, []int{0}) {
		t.Errorf("%+v, asked for %v: the last compaction of a session that goes on is not over", st, asked)
	}
	if as := w.accesses(sessionA); len(as) != 1 || as[0].Ref != place || as[0].How != archive.AccessUsed {
		t.Errorf("accesses %+v", as)
	}

	w.clock = w.clock.Add(w.pass.Rest + time.Hour)
	if st := w.run()["feedback"]; st.Done != 1 || !slices.Equal(asked, []int{0, 1}) {
		t.Errorf("at rest: %+v, asked for %v", st, asked)
	}
	rows := w.dump()
	if st := w.run()["feedback"]; st.Done != 0 || len(asked) != 2 || w.dump() != rows {
		t.Errorf("again: %+v, asked for %v", st, asked)
	}
	sum, err := w.store.Feedback(t.Context())
	if want := (archive.Feedback{Compactions: 2, Given: 10, Used: 2}); err != nil || sum != want {
		t.Errorf("sum %+v, want %+v, %v", sum, want, err)
	}
}

// A pass that was killed between the journal and the index, or an index that was
// made anew, finds the fact in the journal and does not measure again.
func TestARebuiltIndexKnowsWhatWasUsed(t *testing.T) {
	w := newWorld(t)
	w.compacted(sessionA, 1)
	w.gave(sessionA)
	w.clock = w.clock.Add(w.pass.Rest + time.Hour)
	w.pass.Measure = func(context.Context, archive.Compaction) (maintenance.Outcome, error) {
		return maintenance.Outcome{Of: 3, Used: []archive.Ref{{Session: sessionA, Turn: 0, Step: -1}}}, nil
	}
	w.run()
	want := w.accesses(sessionA)
	if len(want) != 1 {
		t.Fatalf("accesses %+v", want)
	}
	other := newWorld(t)
	other.pass.Journal.Log.Dir = w.pass.Journal.Log.Dir
	other.compacted(sessionA, 1)
	other.clock = w.clock
	other.pass.Measure = func(context.Context, archive.Compaction) (maintenance.Outcome, error) {
		t.Error("measured again")
		return maintenance.Outcome{}, nil
	}
	healthy(t, other.run())
	if got := other.accesses(sessionA); !slices.Equal(got, want) {
		t.Errorf("accesses %+v, want %+v", got, want)
	}
}

func TestACompactionThatCannotBeMeasured(t *testing.T) {
	w := newWorld(t)
	w.compacted(sessionA, 1)
	w.gave(sessionA)
	w.clock = w.clock.Add(w.pass.Rest + time.Hour)
	w.pass.Measure = func(context.Context, archive.Compaction) (maintenance.Outcome, error) {
		return maintenance.Outcome{}, errors.New("no such line")
	}
	stages := w.run()
	if st := stages["feedback"]; st.Error == "" || st.Done != 0 {
		t.Errorf("%+v", st)
	}
	if st := stages["seal"]; st.Error != "" || st.Done == 0 {
		t.Errorf("the stages behind it ran: %+v", st)
	}
	// Nothing to tell is a result like any other: it is not asked for again.
	w.pass.Measure = func(context.Context, archive.Compaction) (maintenance.Outcome, error) {
		return maintenance.Outcome{}, nil
	}
	if st := w.run()["feedback"]; st.Done != 1 || len(w.accesses(sessionA)) != 0 {
		t.Errorf("%+v", st)
	}
	if st := w.run()["feedback"]; st.Done != 0 {
		t.Errorf("again: %+v", st)
	}
}

func TestRecalledPlacesAreAccesses(t *testing.T) {
	w := newWorld(t)
	refs := []archive.Ref{{Session: sessionB, Turn: 3, Step: 1}}
	j := w.pass.Journal
	for range 2 {
		if err := j.Accessed(t.Context(), sessionA, refs); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Accessed(t.Context(), sessionA, nil); err != nil {
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
	s := maintenance.Schedule{Path: t.TempDir() + "/state/maintained"}
	if !s.Due(now) {
		t.Error("the first pass is not due")
	}
	s.Begin(now)
	for after, due := range map[time.Duration]bool{
		0: false, 59 * time.Minute: false, time.Hour: true, 24 * time.Hour: true,
		-30 * time.Minute: false, -48 * time.Hour: true, // the clock went back
	} {
		if got := s.Due(now.Add(after)); got != due {
			t.Errorf("%v later: due %v, want %v", after, got, due)
		}
	}
	s.Begin(now.Add(2 * time.Hour))
	if s.Due(now.Add(2 * time.Hour)) {
		t.Error("a pass has just begun")
	}
}
