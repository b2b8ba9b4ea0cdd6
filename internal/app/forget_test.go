package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
)

func (w *world) forget() app.Workspace { return w.runner.Workspace }

// holding lists the archive's files that contain a text, logs decompressed. It
// shares no code with Prove. It skips the index, which callers of Erase rebuild.
func (w *world) holding(text string) (found []string) {
	w.t.Helper()
	err := filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "index.db") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".zst") {
			r, err := sessionlog.OpenReader(path)
			if err != nil {
				return err
			}
			inside, err := io.ReadAll(r.NewSection(0, r.Position().Raw))
			if err := r.Close(); err != nil {
				return err
			}
			if err != nil {
				return err
			}
			data = append(data, inside...)
		}
		if bytes.Contains(data, []byte(text)) {
			found = append(found, d.Name())
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// twoSessions logs two sessions, each with a unique word in the journal's facts and
// in state files.
func twoSessions(t *testing.T) *world {
	w := newWorld(t)
	for i, s := range []string{sessionA, sessionB} {
		w.grow(s, uint64(i+1))
		w.log(s)
		word := []string{"periwinkle", "marigold"}[i]
		for _, id := range []string{s, s + "~a1"} {
			fact := archive.SummaryFact{Source: "PostCompact", Text: "the word is " + word}
			if err := w.runner.Journal.Record(t.Context(), archive.JournalSummary, id, fact); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{s + ".json", filepath.Join("segments", s), filepath.Join("compacted", s+".1")} {
			path := filepath.Join(w.home, "state", name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(word), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return w
}

func TestForgetSession(t *testing.T) {
	w := twoSessions(t)
	f := w.forget()
	size, err := f.SessionSize(t.Context(), sessionA)
	if err != nil || size.Logs != 1 || size.Facts != 2 || size.Bytes == 0 || size.Client != w.path(sessionA) {
		t.Fatalf("%+v, %v", size, err)
	}
	others := len(w.holding("marigold"))
	if err := f.BeginForget(t.Context(), sessionA, archive.ForgetAsked); err != nil {
		t.Fatal(err)
	}
	gone, err := f.EraseSessions(t.Context(), []string{sessionA})
	if err != nil || gone != 6 { // a log, two facts and three files of state
		t.Fatalf("%d, %v", gone, err)
	}
	if err := f.EndForget([]string{sessionA}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"periwinkle", "make retry number 1 wait"} {
		if found := w.holding(text); len(found) > 0 {
			t.Errorf("%q is in %v", text, found)
		}
	}
	if found := w.holding("marigold"); len(found) != others || others == 0 {
		t.Errorf("the other session's word is in %v, was in %d files", found, others)
	}
	if open, err := f.OpenForgets(t.Context()); err != nil || len(open) > 0 {
		t.Errorf("open: %v, %v", open, err)
	}
	if err := f.BeginForget(t.Context(), "../x", archive.ForgetAsked); archive.ErrorCode(err) != archive.CodeInvalid {
		t.Errorf("%v", err)
	}
	// The client's file still exists; it is not captured again.
	w.grow(sessionA, 3)
	job := capture.Job{Source: &capture.Source{Path: w.path(sessionA), Session: sessionA}, Size: 1}
	if _, err := w.runner.Capture.Bulk(t.Context(), w.store, w.store, []capture.Job{job}, nil); err != nil {
		t.Error(err)
	}
	got, err := w.runner.Capture.LogSession(t.Context(), *job.Source, true)
	if err != nil || got.Added != 0 || len(got.Sessions) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if isNew, err := w.runner.Capture.HasNewBytes(*job.Source, 1<<20); isNew || err != nil {
		t.Errorf("new bytes: %v, %v", isNew, err)
	}
	if m, err := w.runner.Capture.Uncaptured([]capture.Job{job}); err != nil || m != (capture.Missing{}) {
		t.Errorf("%+v, %v", m, err)
	}
	if found := w.holding("make retry number"); len(found) != 1 {
		t.Errorf("captured again: %v", found)
	}
}

// A copy of a forgotten session under another ID is not captured, also after the journal
// alone was restored. A fork with rows of its own is.
func TestForgottenCopy(t *testing.T) {
	const copied, fork = "0badc0de-0000-4000-8000-000000000003", "f0f0f0f0-0000-4000-8000-000000000004"
	w := twoSessions(t)
	f := w.forget()
	transcript, err := os.ReadFile(w.path(sessionA))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.BeginForget(t.Context(), sessionA, archive.ForgetAsked); err != nil {
		t.Fatal(err)
	}
	if _, err := f.EraseSessions(t.Context(), []string{sessionA}); err != nil {
		t.Fatal(err)
	}
	if err := f.EndForget([]string{sessionA}); err != nil {
		t.Fatal(err)
	}
	capturing := func(session string, want bool) {
		t.Helper()
		src := capture.Source{Path: w.path(session), Session: session}
		if got, err := w.runner.Capture.LogSession(t.Context(), src, true); err != nil || got.Added > 0 != want {
			t.Errorf("a hook captured %+v, %v", got, err)
		}
		got, err := w.runner.Capture.Bulk(t.Context(), w.store, w.store, []capture.Job{{Source: &src}}, nil)
		if err != nil || len(got.Failed) > 0 || got.Sessions > 0 != want {
			t.Errorf("an import captured %+v, %v", got, err)
		}
	}
	data := bytes.ReplaceAll(transcript, []byte(sessionA), []byte(copied))
	if err := os.WriteFile(w.path(copied), data, 0o600); err != nil {
		t.Fatal(err)
	}
	capturing(copied, false)
	for _, dir := range []string{"forgotten", "forgotten-rows"} {
		if err := os.RemoveAll(filepath.Join(w.home, dir)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.OpenForgets(t.Context()); err != nil {
		t.Fatal(err)
	}
	capturing(copied, false)
	if err := os.WriteFile(w.path(fork), bytes.ReplaceAll(transcript, []byte(sessionA), []byte(fork)), 0o600); err != nil {
		t.Fatal(err)
	}
	w.grow(fork, 9)
	capturing(fork, true)
}

// After an interruption at any step the next call completes the deletion. Until
// then the session is neither captured nor indexed.
func TestForgetAfterInterruption(t *testing.T) {
	steps := map[string]func(t *testing.T, w *world){
		"after the journal's fact": func(t *testing.T, w *world) {
			if err := os.RemoveAll(filepath.Join(w.home, "forgotten")); err != nil {
				t.Fatal(err)
			}
		},
		"after the marker file": func(*testing.T, *world) {},
		"within the marker file": func(t *testing.T, w *world) {
			if err := os.Truncate(filepath.Join(w.home, "forgotten", sessionA), 0); err != nil {
				t.Fatal(err)
			}
		},
		"between logs and journal": func(t *testing.T, w *world) {
			entries, err := w.runner.Capture.Layout.Find("claude", sessionA)
			if err != nil || len(entries) != 1 {
				t.Fatal(entries, err)
			}
			if err := os.Remove(entries[0].Path); err != nil {
				t.Fatal(err)
			}
		},
		"within the journal, blanked and not rewritten": func(t *testing.T, w *world) {
			months, err := filepath.Glob(filepath.Join(w.home, "journal", "*.zst"))
			if err != nil || len(months) != 1 {
				t.Fatal(months, err)
			}
			l, err := sessionlog.Open(t.Context(), months[0], sessionlog.Header{Kind: sessionlog.KindJournal, Generation: 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Blank(t.Context(), 0, 1); err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		},
		"before Done": func(t *testing.T, w *world) {
			if _, err := w.forget().EraseSessions(t.Context(), []string{sessionA}); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, interrupt := range steps {
		t.Run(name, func(t *testing.T) {
			w := twoSessions(t)
			f := w.forget()
			if err := f.BeginForget(t.Context(), sessionA, archive.ForgetAsked); err != nil {
				t.Fatal(err)
			}
			interrupt(t, w)
			open, err := f.OpenForgets(t.Context())
			if err != nil || !slices.Equal(open, []string{sessionA}) {
				t.Fatalf("open: %v, %v", open, err)
			}
			jobs, err := w.runner.Capture.LoggedJobs(t.Context())
			if err != nil || len(jobs) != 1 || jobs[0].Session != sessionB {
				t.Errorf("a rebuilt index would read %+v, %v", jobs, err)
			}
			for range 2 { // repeating it is harmless
				if _, err := f.EraseSessions(t.Context(), open); err != nil {
					t.Fatal(err)
				}
				if err := f.EndForget(open); err != nil {
					t.Fatal(err)
				}
			}
			for _, text := range []string{"periwinkle", "make retry number 1 wait"} {
				if found := w.holding(text); len(found) > 0 {
					t.Errorf("%q is in %v", text, found)
				}
			}
			if open, err := f.OpenForgets(t.Context()); err != nil || len(open) > 0 {
				t.Errorf("still open: %v, %v", open, err)
			}
			if found := w.holding("marigold"); len(found) == 0 {
				t.Error("the other session was deleted as well")
			}
		})
	}
}

// A hook that wrote during the deletion leaves a log; Open reports it.
func TestForgetFindsARestoredLog(t *testing.T) {
	w := twoSessions(t)
	f := w.forget()
	entries, err := w.runner.Capture.Layout.Find("claude", sessionA)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(entries[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.BeginForget(t.Context(), sessionA, archive.ForgetAsked); err != nil {
		t.Fatal(err)
	}
	if _, err := f.EraseSessions(t.Context(), []string{sessionA}); err != nil {
		t.Fatal(err)
	}
	if err := f.EndForget([]string{sessionA}); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(entries[0].Path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(entries[0].Path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if open, err := f.OpenForgets(t.Context()); err != nil || !slices.Equal(open, []string{sessionA}) {
		t.Errorf("open: %v, %v", open, err)
	}
}

func TestProof(t *testing.T) {
	w := twoSessions(t)
	home := w.home
	for _, c := range []struct {
		name       string
		texts      []string
		kept, left int
	}{
		{"nothing to look for", nil, 0, 0},
		{"a text that is nowhere", []string{"nowhere to be found"}, 0, 0},
		{"a text of a log", []string{"make retry number 2 wait"}, 1, 0},
		{"a text of state and journal only", []string{"periwinkle"}, 0, 4},
	} {
		p, err := app.Prove(t.Context(), home, c.texts)
		if err != nil || p.Files < 6 || p.Bytes == 0 || p.Texts != len(c.texts) || len(p.Kept) != c.kept || len(p.Left) != c.left {
			t.Errorf("%s: %+v, %v", c.name, p, err)
		}
	}
	long := strings.Repeat("x", 1<<20-3) + "split over two reads" // of a mebibyte each
	if err := os.WriteFile(filepath.Join(home, "state", "long"), []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := app.Prove(t.Context(), home, []string{"split over two reads"}); err != nil || len(p.Left) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// Samples read the same in JSON as in the text.
func TestSamples(t *testing.T) {
	texts := []string{"short", `a "quoted" text with a plain run behind it, long enough`, "línea\nonly the plain run of letters counts here", strings.Repeat("a long one ", 40)}
	var ps []archive.Passage
	for _, text := range texts {
		ps = append(ps, archive.Passage{Text: text})
	}
	w := newWorld(t)
	if none, err := w.forget().Samples(t.Context(), sessionA, ps, 10); err != nil || len(none) > 0 {
		t.Errorf("texts that no log contains: %q, %v", none, err)
	}
	log, err := sessionlog.Open(t.Context(), w.runner.Capture.Layout.Transcript("claude", "-home-dev-shop", sessionA, 1), sessionlog.Header{Kind: sessionlog.KindTranscript, Session: sessionA})
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(texts)
	if err == nil {
		err = log.Append(t.Context(), append(line, '\n'), 0)
	}
	if err := errors.Join(err, log.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := w.forget().Samples(t.Context(), sessionA, ps, 10)
	if err != nil || len(got) != 3 {
		t.Fatalf("%q, %v", got, err)
	}
	for i, s := range got {
		js, err := json.Marshal(s)
		if err != nil || string(js) != `"`+s+`"` || !strings.Contains(texts[i+1], s) {
			t.Errorf("%q of %q", s, texts[i+1])
		}
	}
	if few, err := w.forget().Samples(t.Context(), sessionA, ps, 2); err != nil || len(few) != 2 {
		t.Errorf("%q, %v", few, err)
	}
}

func TestExpired(t *testing.T) {
	const day = 24 * time.Hour
	w := twoSessions(t)
	for _, s := range []string{sessionA, sessionB} {
		if err := w.runner.Capture.Index(t.Context(), w.store, s); err != nil {
			t.Fatal(err)
		}
	}
	started := time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)
	used := archive.AccessFact{Refs: []archive.Ref{{Session: sessionB, Turn: 0, Step: 0}}, How: archive.AccessRecalled}
	full := func() (int64, int64) { return 1 << 20, 1 << 20 }
	due := func(r app.Retention, after time.Duration) []string {
		t.Helper()
		got, err := w.forget().Expired(t.Context(), w.index(), r, started.Add(after))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	both := []string{sessionA, sessionB}
	for _, c := range []struct {
		name  string
		r     app.Retention
		after time.Duration
		want  []string
	}{
		{"off", app.Retention{Age: 30 * day, MaxBytes: 1, Sizes: full}, 90 * day, nil},
		{"too young", app.Retention{Delete: true, Age: 30 * day}, 29 * day, nil},
		{"old", app.Retention{Delete: true, Age: 30 * day}, 31 * day, both},
		{"no age is set", app.Retention{Delete: true}, 900 * day, nil},
		{"it fits", app.Retention{Delete: true, Age: 30 * day, MaxBytes: 1 << 30, Sizes: full}, 2 * day, nil},
		{"much too much", app.Retention{Delete: true, Age: 30 * day, MaxBytes: 1, Sizes: full}, 2 * day, both},
		{"a little too much", app.Retention{Delete: true, Age: 30 * day, MaxBytes: 2<<20 - 1, Sizes: full}, 2 * day, []string{sessionA}},
		{"too much, all of today", app.Retention{Delete: true, Age: 30 * day, MaxBytes: 1, Sizes: full}, 2 * time.Hour, nil},
		{"the clock was set back", app.Retention{Delete: true, Age: 30 * day, MaxBytes: 1, Sizes: full}, -90 * day, nil},
	} {
		if got := due(c.r, c.after); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if err := w.runner.Journal.Record(t.Context(), archive.JournalAccess, sessionA, used); err != nil {
		t.Fatal(err)
	}
	if err := w.runner.Journal.Sync(t.Context(), w.store); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]app.Retention{
		"age": {Delete: true, Age: 30 * day}, "room": {Delete: true, MaxBytes: 1, Sizes: full},
	} {
		if got := due(r, 90*day); !slices.Equal(got, []string{sessionA}) {
			t.Errorf("%s: sessions that were given to the model expire: %v", name, got)
		}
	}
}
