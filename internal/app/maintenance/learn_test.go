package maintenance_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"strandline/internal/app/maintenance"
	"strandline/internal/archive"
)

// teacher gives the same for every cut, and notes which it was asked for.
type teacher struct {
	asked []string
	short bool
	err   error
}

func (x *teacher) MadeUp(_ context.Context, session string) (archive.Compaction, bool, error) {
	return archive.Compaction{Session: session, Line: 3}, !x.short, x.err
}

func (x *teacher) Teach(_ context.Context, cut archive.Compaction) (map[string]archive.Tally, error) {
	x.asked = append(x.asked, archive.ShortID(cut.Session))
	return map[string]archive.Tally{"hash": {Expected: 2, Needed: 1}}, x.err
}

func (w *world) taught() (*teacher, maintenance.Learned) {
	x := &teacher{}
	w.pass.Teacher, w.pass.Learned = x, maintenance.Learned{Path: filepath.Join(w.home, "learned.json")}
	return x, w.pass.Learned
}

// rested lets all sessions be left alone for long enough.
func (w *world) rested() { w.clock = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC) }

func TestEachCutTeachesOnce(t *testing.T) {
	w := newWorld(t)
	x, file := w.taught()
	for i, s := range []string{sessionA, sessionB} {
		w.grow(s, uint64(i)+1)
		w.log(s)
	}
	w.clock = time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)
	if st := w.run()["learn"]; st.Done != 0 || len(x.asked) != 0 {
		t.Fatalf("sessions that go on teach: %+v", st)
	}
	if _, n := file.Read(); n != 0 {
		t.Errorf("learned from %d", n)
	}
	w.rested()
	for i, want := range []int{2, 0} {
		if st := w.run()["learn"]; st.Done != want || st.Error != "" {
			t.Errorf("pass %d: %+v, want %d", i, st, want)
		}
		got, n := file.Read()
		if n != 2 || got["hash"] != (archive.Tally{Expected: 4, Needed: 2}) {
			t.Errorf("pass %d: %v from %d", i, got, n)
		}
	}
	// As of a time before the second session ended, one had taught.
	for at, want := range map[time.Time]float64{
		time.Date(2026, 11, 1, 1, 30, 0, 0, time.UTC): 2, w.clock: 4, time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC): 0,
	} {
		if got, err := maintenance.TaughtBy(t.Context(), w.pass.Journal, at); err != nil || got["hash"].Expected != want {
			t.Errorf("by %v: %v, %v; want %v", at, got, err, want)
		}
	}
	// A file that is lost or damaged comes back; a rebuilt index changes nothing.
	if err := os.WriteFile(file.Path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, n := file.Read(); got != nil || n != 0 {
		t.Errorf("of a damaged file: %v", got)
	}
	w.run()
	if _, n := file.Read(); n != 2 {
		t.Errorf("learned from %d", n)
	}
	// What is forgotten taught nothing.
	f := w.forget()
	if err := f.Begin(t.Context(), sessionA, archive.ForgetAsked); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Erase(t.Context(), []string{sessionA, sessionB}); err != nil {
		t.Fatal(err)
	}
	w.run()
	if _, err := os.Stat(filepath.Join(w.home, "learned.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what forgotten sessions taught is still there: %v", err)
	}
}

func TestAPassNobodyWaitsForLearnsALittle(t *testing.T) {
	w := newWorld(t)
	x, file := w.taught()
	for i, s := range []string{sessionA, sessionB} {
		w.grow(s, uint64(i)+1)
		w.log(s)
	}
	w.rested()
	w.pass.TeachMost = 1
	for want := 1; want <= 2; want++ {
		if st := w.run()["learn"]; st.Done != 1 {
			t.Errorf("%+v", st)
		}
		if _, n := file.Read(); n != want || len(x.asked) != want {
			t.Errorf("learned from %d, asked %v", n, x.asked)
		}
	}
}

// A session that is too short teaches nothing and is not asked again; one that
// cannot be read is.
func TestWhatTeachesNothing(t *testing.T) {
	w := newWorld(t)
	x, file := w.taught()
	w.grow(sessionA, 1)
	w.log(sessionA)
	w.rested()
	x.err = errors.New("the log is damaged")
	if st := w.run()["learn"]; st.Error == "" || st.Done != 0 {
		t.Errorf("%+v", st)
	}
	x.err, x.short = nil, true
	if st := w.run()["learn"]; st.Error != "" || st.Done != 0 {
		t.Errorf("%+v", st)
	}
	x.short = false
	if st := w.run()["learn"]; st.Done != 0 || len(x.asked) != 0 { // a cut that was looked at is not asked again
		t.Errorf("%+v, asked %v", st, x.asked)
	}
	if _, n := file.Read(); n != 0 {
		t.Errorf("learned from %d", n)
	}
}
