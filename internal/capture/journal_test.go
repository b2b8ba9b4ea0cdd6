package capture_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
)

// index records the journal entries and batches it gets. Its errors are returned in
// order, one per call.
type index struct {
	entries []archive.JournalEntry
	cursor  []byte
	calls   int

	applied   []archive.Batch
	cursors   map[string]archive.Cursor
	applyErr  []error
	cursorErr error
	knownErr  error
	err       error // of the journal's calls
}

func (x *index) ApplyJournal(_ context.Context, entries []archive.JournalEntry, cursor []byte) error {
	x.calls++
	if x.err != nil {
		return x.err
	}
	x.entries, x.cursor = append(x.entries, entries...), cursor
	return nil
}

func (x *index) JournalCursor(context.Context) ([]byte, error) { return x.cursor, x.err }

func (x *index) Known(context.Context, []uint64) (map[uint64]archive.Ref, error) {
	return nil, x.knownErr
}

func (x *index) Apply(_ context.Context, b archive.Batch) error {
	if len(x.applyErr) > 0 {
		err := x.applyErr[0]
		x.applyErr = x.applyErr[1:]
		if err != nil {
			return err
		}
	}
	if x.cursors == nil {
		x.cursors = map[string]archive.Cursor{}
	}
	x.applied = append(x.applied, b)
	x.cursors[b.Session.ID] = b.Cursor
	return nil
}

func (x *index) ApplyAll(ctx context.Context, bs []archive.Batch) error {
	for _, b := range bs {
		if err := x.Apply(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

func (x *index) Cursor(_ context.Context, session string) (archive.Cursor, error) {
	return x.cursors[session], x.cursorErr
}

func (x *index) Retire(context.Context, string, int) error { return nil }

// starred hides the word "hunter" as a redactor does.
func starred(s string) string { return strings.ReplaceAll(s, "hunter", "***") }

func newJournal(t *testing.T) capture.Journal {
	clock := time.Date(2026, 11, 30, 23, 59, 59, 0, time.FixedZone("east", 3600))
	return capture.Journal{
		Log: sessionlog.Journal{Dir: filepath.Join(t.TempDir(), "journal")}, Redact: starred,
		Now: func() time.Time { return clock },
	}
}

func TestJournalSync(t *testing.T) {
	j, idx := newJournal(t), &index{}
	must(t, j.Record(t.Context(), archive.JournalInjected, sessionA, archive.InjectedFact{Event: "SessionStart", Chars: 12}))
	must(t, j.RecordAll(t.Context(),
		capture.Fact{Kind: archive.JournalMerge, Data: archive.MergeFact{From: "a", Into: "b"}},
		capture.Fact{Kind: archive.JournalAccess, Session: sessionB, Data: archive.AccessFact{How: "recalled"}},
	))
	must(t, j.Sync(t.Context(), idx))
	if len(idx.entries) != 3 {
		t.Fatalf("%d entries", len(idx.entries))
	}
	ids := map[string]bool{}
	for i, want := range []struct {
		kind          archive.JournalKind
		session, data string
	}{
		{archive.JournalInjected, sessionA, `{"event":"SessionStart","chars":12}`},
		{archive.JournalMerge, "", `{"from":"a","into":"b"}`},
		{archive.JournalAccess, sessionB, `{"refs":null,"how":"recalled"}`},
	} {
		e := idx.entries[i]
		if e.Kind != want.kind || e.Session != want.session || string(e.Data) != want.data || e.Version != 1 {
			t.Errorf("entry %d: %+v", i, e)
		}
		if e.Time.Location() != time.UTC || !e.Time.Equal(j.Now()) {
			t.Errorf("entry %d at %v", i, e.Time)
		}
		if len(e.ID) != 24 || ids[e.ID] {
			t.Errorf("entry %d has the id %q", i, e.ID)
		}
		ids[e.ID] = true
	}
}

func TestFactsAppliedOnce(t *testing.T) {
	j, idx := newJournal(t), &index{}
	must(t, j.Sync(t.Context(), idx))
	if idx.calls != 0 {
		t.Error("an empty journal was applied")
	}
	for i := range 3 {
		must(t, j.Record(t.Context(), archive.JournalMerge, "", archive.MergeFact{From: strings.Repeat("x", i)}))
		must(t, j.Sync(t.Context(), idx))
		must(t, j.Sync(t.Context(), idx))
		if len(idx.entries) != i+1 || idx.calls != i+1 {
			t.Fatalf("after %d facts: %d entries in %d calls", i+1, len(idx.entries), idx.calls)
		}
	}
}

// TestInvalidJournalCursor checks that an invalid cursor means the beginning; entries
// are applied once per ID.
func TestInvalidJournalCursor(t *testing.T) {
	j := newJournal(t)
	must(t, j.Record(t.Context(), archive.JournalMerge, "", archive.MergeFact{From: "a"}))
	for _, cursor := range []string{"", "{", "[]", `"x"`, `{"offsets":3}`, "\x00\x01"} {
		idx := &index{cursor: []byte(cursor)}
		must(t, j.Sync(t.Context(), idx))
		if len(idx.entries) != 1 || !json.Valid(idx.cursor) {
			t.Errorf("cursor %q: %d entries, then %q", cursor, len(idx.entries), idx.cursor)
		}
	}
}

// TestJournalSyncRedacts checks that the index gets redacted texts, that the journal
// keeps the original ones, and that other values are unchanged.
func TestJournalSyncRedacts(t *testing.T) {
	for _, c := range []struct {
		name string
		kind archive.JournalKind
		data any
		want string
	}{
		{"a summary", archive.JournalSummary, archive.SummaryFact{Source: "PostCompact", Text: "the password is hunter2"},
			`{"source":"PostCompact","text":"the password is ***2"}`},
		{"a task", archive.JournalTask, archive.TaskFact{Event: "TaskCreated", TaskID: "1", Subject: "ask hunter", Description: "hunter knows"},
			`{"event":"TaskCreated","task_id":"1","subject":"ask ***","description":"*** knows"}`},
		{"a snapshot", archive.JournalSnapshot, archive.SnapshotFact{Summary: "hunter", Messages: []archive.SnapshotMessage{{From: "hunter", Text: "ask hunter"}}, Next: []string{"hunter"}},
			`{"summary":"***","messages":[{"from":"***","text":"ask ***"}],"next":["***"]}`},
		{"an id is not redacted", archive.JournalTask, archive.TaskFact{Event: "TaskCreated", TaskID: "hunter"},
			`{"event":"TaskCreated","task_id":"hunter"}`},
		{"what names nothing secret", archive.JournalMerge, archive.MergeFact{From: "dir:/home/hunter", Into: "x"},
			`{"from":"dir:/home/hunter","into":"x"}`},
		{"a summary of another shape", archive.JournalSummary, []string{"hunter"}, `["hunter"]`},
		{"a task of another shape", archive.JournalTask, "hunter", `"hunter"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, idx := newJournal(t), &index{}
			must(t, j.Record(t.Context(), c.kind, sessionA, c.data))
			must(t, j.Sync(t.Context(), idx))
			if len(idx.entries) != 1 || string(idx.entries[0].Data) != c.want {
				t.Errorf("got %+v, want %s", idx.entries, c.want)
			}
			kept, _, err := j.Log.Read(t.Context(), sessionlog.JournalCursor{})
			raw, rerr := json.Marshal(c.data)
			if err != nil || rerr != nil || len(kept) != 1 || string(kept[0].Data) != string(raw) {
				t.Errorf("the journal holds %+v, %v", kept, err)
			}
		})
	}
}

func TestRecordAll(t *testing.T) {
	j := newJournal(t)
	err := j.RecordAll(t.Context(),
		capture.Fact{Kind: archive.JournalMerge, Data: archive.MergeFact{From: "a"}},
		capture.Fact{Kind: archive.JournalMerge, Data: func() {}})
	if err == nil {
		t.Error("invalid JSON was recorded")
	}
	if kept, _, err := j.Log.Read(t.Context(), sessionlog.JournalCursor{}); err != nil || len(kept) != 0 {
		t.Errorf("the first of two was recorded alone: %+v, %v", kept, err)
	}
}

func TestJournalErrors(t *testing.T) {
	j := newJournal(t)
	must(t, j.Record(t.Context(), archive.JournalMerge, "", archive.MergeFact{From: "a"}))
	idx := &index{err: errors.New("no index today")}
	if err := j.Sync(t.Context(), idx); !errors.Is(err, idx.err) {
		t.Errorf("an index that fails: %v", err)
	}
	late := &lateIndex{index{err: errors.New("full")}}
	if err := j.Sync(t.Context(), late); !errors.Is(err, late.err) {
		t.Errorf("an index that fails to take entries: %v", err)
	}
	blocked := capture.Journal{Log: sessionlog.Journal{Dir: filepath.Join(t.TempDir(), "file")}, Redact: starred, Now: time.Now}
	must(t, os.WriteFile(blocked.Log.Dir, nil, 0o600))
	if err := blocked.Record(t.Context(), archive.JournalMerge, "", archive.MergeFact{}); err == nil {
		t.Error("a fact was recorded into a file in the folder's place")
	}
}

// lateIndex fails only when entries are applied.
type lateIndex struct{ index }

func (x *lateIndex) JournalCursor(context.Context) ([]byte, error) { return nil, nil }

func TestConcurrentIndexing(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
	got, err := w.capture.LogSession(t.Context(), w.source(sessionA), false)
	must(t, err)
	idx := &index{applyErr: []error{archive.ErrStale, archive.ErrStale}}
	must(t, w.capture.IndexAll(t.Context(), idx, got.Sessions))
	if len(idx.applied) != 1 || idx.cursors[sessionA].Offset != int64(len(transcriptOf(sessionA, 1, 1))) {
		t.Errorf("%d batches, up to %+v", len(idx.applied), idx.cursors)
	}
	must(t, w.capture.Index(t.Context(), idx, sessionA))
	if len(idx.applied) != 1 {
		t.Error("indexed rows were indexed again")
	}
}

func TestIndexErrors(t *testing.T) {
	disk := errors.New("disk on fire")
	for name, idx := range map[string]*index{
		"the cursor": {cursorErr: disk}, "known rows": {knownErr: disk}, "a batch": {applyErr: []error{disk, disk}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
			got, err := w.capture.LogSession(t.Context(), w.source(sessionA), false)
			must(t, err)
			if err := w.capture.IndexAll(t.Context(), idx, got.Sessions); !errors.Is(err, disk) {
				t.Errorf("a hook: %v", err)
			}
			done, err := w.capture.CatchUp(t.Context(), idx, capture.PendingWork{Session: sessionA, Transcript: w.path(sessionA)})
			if !errors.Is(err, disk) || done {
				t.Errorf("a catch-up: %v, %v", done, err)
			}
			sameBytes(t, "the log", w.export(sessionA, 0), transcriptOf(sessionA, 1, 1))
		})
	}
}

// TestImportIndexErrors checks that an index error ends an import; the logs are written,
// and the next import indexes them.
func TestImportIndexErrors(t *testing.T) {
	w := newWorld(t)
	for i := range 40 {
		name := "s" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		w.write(w.path(name), transcriptOf(name, uint64(i+1), 1))
	}
	jobs, _, err := w.capture.Discover(t.Context(), []string{w.client})
	must(t, err)
	disk := errors.New("disk on fire")
	idx := &index{applyErr: []error{disk}}
	if _, err := w.capture.Bulk(t.Context(), idx, idx, jobs, nil); !errors.Is(err, disk) {
		t.Errorf("got %v", err)
	}
	report, err := w.capture.Bulk(t.Context(), idx, idx, jobs, nil)
	if err != nil || len(report.Failed) > 0 || len(idx.cursors) != 40 {
		t.Errorf("then %+v, %v, %d sessions", report, err, len(idx.cursors))
	}
}

// TestImportContinuesAfterUnreadableSession checks that a session whose cursor cannot be
// read is reported, and the others are imported.
func TestImportContinuesAfterUnreadableSession(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
	jobs, _, err := w.capture.Discover(t.Context(), []string{w.client})
	must(t, err)
	idx := &index{cursorErr: errors.New("no cursor")}
	report, err := w.capture.Bulk(t.Context(), idx, idx, jobs, nil)
	if err != nil || len(report.Failed) != 1 || report.Failed[0].Path != sessionA || !errors.Is(report.Failed[0].Err, idx.cursorErr) {
		t.Errorf("report %+v, %v", report, err)
	}
	if report.Done != 1 || report.Sessions != 0 || report.Added != report.TotalBytes {
		t.Errorf("report %+v", report.Progress)
	}
}

func TestImportProgress(t *testing.T) {
	w := newWorld(t)
	w.family()
	w.write(w.path(sessionB), transcriptOf(sessionB, 2, 1))
	jobs, _, err := w.capture.Discover(t.Context(), []string{w.client})
	must(t, err)
	w.withStore("index.db", func(s storeType) {
		var reports []capture.Progress
		report, err := w.capture.Bulk(t.Context(), s, s, jobs, func(p capture.Progress) { reports = append(reports, p) })
		must(t, err)
		if len(reports) != len(jobs) {
			t.Fatalf("%d progress calls for %d files", len(reports), len(jobs))
		}
		for i, p := range reports {
			if p.Done != i+1 || p.Jobs != len(jobs) || p.TotalBytes != report.TotalBytes || p.Bytes > p.TotalBytes || i > 0 && p.Bytes < reports[i-1].Bytes {
				t.Errorf("progress %d: %+v", i, p)
			}
		}
		if last := reports[len(reports)-1]; last.Bytes != last.TotalBytes || last != report.Progress {
			t.Errorf("at the end: %+v, reported %+v", last, report.Progress)
		}
		if report.Sessions != 1 || report.Added != int64(len(transcriptOf(sessionB, 2, 1))) {
			t.Errorf("only one session is new: %+v", report.Progress)
		}
	})
}

// TestSessionInTwoFolders captures a session's file in two folders, as after moving a
// project: common bytes are logged once, and a copy that differs becomes a generation.
func TestSessionInTwoFolders(t *testing.T) {
	first, more := transcriptOf(sessionA, 5, 2), transcriptOf(sessionA, 4, 1)
	longer := slices.Concat(first, more)
	other := transcriptOf(sessionA, 3, 2)
	for _, c := range []struct {
		name   string
		second []byte
		latest []byte
		gens   int
	}{
		{"the same", first, first, 1},
		{"the second went on", longer, longer, 1},
		{"the second is another", other, other, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			moved := filepath.Join(w.client, "-home-dev-zoo", sessionA+".jsonl")
			w.write(w.path(sessionA), first)
			w.write(moved, c.second)
			report := w.bulk(w.path(sessionA), moved)
			if len(report.Failed) > 0 || report.Done != 2 {
				t.Errorf("report %+v", report)
			}
			sameBytes(t, "the latest generation", w.export(sessionA, 0), c.latest)
			sameBytes(t, "the first generation", w.export(sessionA, 1)[:len(first)], first)
			if err := w.capture.Export(sessionA, c.gens+1, &strings.Builder{}); archive.ErrorCode(err) != archive.CodeNotFound {
				t.Errorf("there is a generation %d: %v", c.gens+1, err)
			}
			if got, want := w.dump("index.db"), w.reindex("other.db"); got != want {
				t.Errorf("index: %s", firstDifference(got, want))
			}
		})
	}
}
