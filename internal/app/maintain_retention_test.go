package app_test

import (
	"errors"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/index/terms"
	"strandline/internal/recall"
)

const day = 24 * time.Hour

// aged returns a world with two sessions that ended on its first day. Turn 0 of the
// first was restored.
func aged(t *testing.T) *world {
	w := newWorld(t)
	for seed := range uint64(3) {
		w.grow(sessionA, seed+1)
	}
	w.grow(sessionB, 7)
	w.log(sessionA)
	w.log(sessionB)
	fact := archive.AccessFact{Refs: []archive.Ref{{Session: sessionA, Turn: 0, Step: 0}}, How: archive.AccessRestored}
	if err := w.runner.Journal.Record(t.Context(), archive.JournalAccess, sessionA, fact); err != nil {
		t.Fatal(err)
	}
	w.runner.Retention = app.Retention{Age: 30 * day, Rule: recall.DefaultConfidence(), Sizes: func() (int64, int64) { return w.size("index.db") + w.size("index.db-wal"), 0 }}
	w.clock = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	healthy(t, w.run())
	return w
}

func (w *world) size(name string) int64 {
	w.t.Helper()
	info, err := os.Stat(w.home + "/" + name)
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return info.Size()
}

// cold lists the handles of cold turns that are not trimmed.
func (w *world) cold() []string {
	w.t.Helper()
	turns, err := w.store.Cold(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, c := range turns {
		out = append(out, archive.Ref{Session: c.Session, Turn: c.Turn, Step: -1}.Handle())
	}
	slices.Sort(out)
	return out
}

// texts returns the passages of a session by position.
func (w *world) texts(session string) map[archive.Ref]string {
	w.t.Helper()
	ps, err := w.store.Passages(w.t.Context(), archive.PassageSpan{Span: archive.Span{Session: session}})
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[archive.Ref]string{}
	for _, p := range ps {
		out[archive.Ref{Session: string(p.Kind), Turn: p.Turn, Step: p.Step*100 + p.Seq}] = p.Text
	}
	return out
}

func (w *world) found(text string) []archive.Hit {
	w.t.Helper()
	hits, err := w.store.Search(w.t.Context(), archive.Query{Terms: terms.Query(text), Dead: true, Limit: 20})
	if err != nil {
		w.t.Fatal(err)
	}
	return hits
}

func TestOldUnusedTurnsLeaveTheHotSet(t *testing.T) {
	w := aged(t)
	for _, c := range []struct {
		after time.Duration
		want  []string
	}{
		{0, nil},
		{29 * day, nil},
		{31 * day, []string{"7f3a12cd/1", "7f3a12cd/2", "9b1c44ee/0"}}, // 7f3a12cd/0 was restored
	} {
		w.clock = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC).Add(c.after)
		healthy(t, w.run())
		if got := w.cold(); !slices.Equal(got, c.want) {
			t.Errorf("after %v: %v are cold, want %v", c.after, got, c.want)
		}
	}
	rows := w.dump()
	if st := w.run()["tiers"]; st.Done != 0 || w.dump() != rows {
		t.Errorf("again: %+v", st)
	}
	// A clock that is wrong cools nothing.
	w.clock = w.clock.Add(-400 * day)
	healthy(t, w.run())
	if got := w.cold(); len(got) > 0 {
		t.Errorf("before the sessions: %v", got)
	}
}

// Besides age, low confidence is required.
func TestConfidentTurnsStay(t *testing.T) {
	w := aged(t)
	w.runner.Retention.Age = day
	first := w.clock
	for _, c := range []struct {
		after time.Duration
		out   int
	}{{2 * day, 0}, {6 * day, 0}, {8 * day, 3}} {
		w.clock = first.Add(c.after)
		healthy(t, w.run())
		if got := w.cold(); len(got) != c.out {
			t.Errorf("after %v: %v are cold", c.after, got)
		}
	}
	w = aged(t)
	w.runner.Retention.Rule.PerHour = 0
	w.clock = w.clock.Add(1000 * day)
	healthy(t, w.run())
	if got := w.cold(); len(got) != 0 {
		t.Errorf("without decay: %v are cold", got)
	}
}

func TestAccessedTurnsReturn(t *testing.T) {
	w := aged(t)
	w.clock = w.clock.Add(40 * day)
	healthy(t, w.run())
	if err := w.runner.Journal.RecordAccess(t.Context(), sessionA, []archive.Ref{{Session: sessionB, Turn: 0, Step: -1}}); err != nil {
		t.Fatal(err)
	}
	if st := w.run()["tiers"]; st.Done != 1 {
		t.Errorf("%+v", st)
	}
	if got := w.cold(); !slices.Equal(got, []string{"7f3a12cd/1", "7f3a12cd/2"}) {
		t.Errorf("cold are %v", got)
	}
}

func TestTrimmedTurnsAreReadFromTheLog(t *testing.T) {
	w := aged(t)
	before, hits := w.texts(sessionA), w.found("retry gateway")
	if len(hits) < 4 {
		t.Fatalf("%d hits", len(hits))
	}
	w.clock = w.clock.Add(40 * day)
	w.runner.Retention.Compact = true
	stages := w.run()
	healthy(t, stages)
	if st := stages["compact"]; st.Done != 3 || st.Before == 0 || st.After == 0 {
		t.Errorf("%+v", st)
	}
	if got := w.cold(); len(got) != 0 {
		t.Errorf("not trimmed: %v", got)
	}
	if after := w.texts(sessionA); !maps.Equal(after, before) {
		t.Errorf("texts\n%v\nwant\n%v", after, before)
	}
	same := func(a, b archive.Hit) bool { return a.Text == b.Text && a.Score == b.Score && a.Turn == b.Turn }
	if again := w.found("retry gateway"); !slices.EqualFunc(again, hits, same) {
		t.Errorf("hits %+v\nwant %+v", again, hits)
	}
	// So are hits by passage ID, as vector search requests them.
	ids := make([]int64, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	near, err := w.store.HitsOf(t.Context(), archive.Query{Dead: true}, ids)
	if !slices.EqualFunc(near, hits, func(a, b archive.Hit) bool { return a.ID == b.ID && a.Text == b.Text }) || err != nil {
		t.Errorf("by ID %+v, %v\nwant %+v", near, err, hits)
	}
	if err := w.store.Integrity(t.Context()); err != nil {
		t.Error(err)
	}
	// An embedder reads trimmed texts from the log as well.
	work, err := w.store.Unembedded(t.Context(), "later", 3, 1000)
	if err != nil || len(work.Passages) == 0 {
		t.Fatalf("%+v, %v", work, err)
	}
	for _, p := range work.Passages {
		if p.Text == "" {
			t.Errorf("passage %d would be embedded without its text", p.ID)
		}
	}
	if st := w.run()["compact"]; st.Done != 0 || st.Error != "" {
		t.Errorf("again: %+v", st)
	}

	// Without its log a trimmed turn has no text.
	logs := w.files()
	for path := range logs {
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.found("retry gateway"); len(got) == 0 || len(got) >= len(hits) {
		t.Errorf("%d of %d hits without a log", len(got), len(hits))
	}
	for path := range logs {
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
	}
	// A turn that is given to the model gets its text back.
	if err := w.runner.Journal.RecordAccess(t.Context(), sessionB, []archive.Ref{{Session: sessionA, Turn: 2, Step: 0}}); err != nil {
		t.Fatal(err)
	}
	healthy(t, w.run())
	if after := w.texts(sessionA); !maps.Equal(after, before) {
		t.Errorf("texts\n%v\nwant\n%v", after, before)
	}
}

// While the archive exceeds its limit, younger and younger sessions are trimmed;
// logs never are.
func TestRetentionMaxBytes(t *testing.T) {
	for name, c := range map[string]struct {
		after   time.Duration
		max     int64
		trimmed int
		failed  bool
	}{
		"no limit":                        {20 * day, 0, 0, false},
		"below it":                        {20 * day, 1 << 40, 0, false},
		"exceeded, old enough":            {20 * day, 1, 3, true},
		"exceeded, too young":             {12 * time.Hour, 1, 0, true},
		"exceeded, after halving the age": {5 * day, 1, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := aged(t)
			w.clock = w.clock.Add(c.after)
			w.runner.Retention.MaxBytes = c.max
			logs := w.files()
			st := w.run()["compact"]
			if st.Done != c.trimmed || (st.Error != "") != c.failed {
				t.Errorf("%+v", st)
			}
			if again := w.run()["compact"]; again.Done != 0 {
				t.Errorf("again: %+v", again)
			}
			if !c.failed && !maps.Equal(w.files(), logs) {
				t.Error("the logs have changed")
			}
			w.exported(sessionA)
		})
	}
}
